"""The collector of one file; its timing.py and files.py are those of rooflua_collect, too."""
