"""Checks documents against a schema: python3 schema.py SCHEMA DOCUMENT... Exit status 77: no jsonschema."""
import json
import pathlib
import sys
import warnings

warnings.simplefilter("ignore")  # RefResolver is deprecated where its successor exists
try:
    import jsonschema
except ImportError:
    sys.exit(77)

path = pathlib.Path(sys.argv[1]).resolve()
with open(path, encoding="utf-8") as file:
    schema = json.load(file)
jsonschema.Draft202012Validator.check_schema(schema)
resolver = jsonschema.RefResolver(path.as_uri(), schema)  # "plan.json" is the file beside this one
validator = jsonschema.Draft202012Validator(schema, resolver=resolver)


def causes(error):
    """The error, or what is wrong with the best fitting of several alternatives."""
    best = jsonschema.exceptions.best_match([error])
    return best if best is not None else error


wrong = 0
for name in sys.argv[2:]:
    with open(name, encoding="utf-8") as file:
        for error in validator.iter_errors(json.load(file)):
            wrong += 1
            cause = causes(error)
            print(f"{name}: {'/'.join(map(str, cause.absolute_path))}: {cause.message[:300]}")
sys.exit(1 if wrong else 0)
