# A server that is not there: rooflua emulate in the place of an engine's image (docs/EMULATE.md).
#
#     docker build -f docs/package/Dockerfile -t rooflua .
#     docker build -f docs/package/emulate.Dockerfile -t rooflua-emulate .
#     docker run --rm -p 127.0.0.1:8000:8000 -v "$PWD/mine.lua:/work/scenario.lua:ro" rooflua-emulate
FROM rooflua
EXPOSE 8000
ENTRYPOINT ["rooflua", "emulate", "/work/scenario.lua", "--host", "0.0.0.0"]
