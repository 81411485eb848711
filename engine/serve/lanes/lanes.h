#pragma once
// Where the decoding requests of one replica are. Requests that advance together, a token each a
// step, are in a DecodePool. Where the replica speculates they advance by different numbers, and a
// RaggedPool has them. With several stages of layers they leave the DecodePool in each step, and a
// Flight has the steps that they come back with.

#include "serve/lanes/decode_pool.h"
#include "serve/lanes/flight.h"
#include "serve/lanes/ragged_pool.h"
