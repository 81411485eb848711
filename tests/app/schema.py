"""Checks documents against a schema: python3 schema.py SCHEMA DOCUMENT... Exit status 77: no jsonschema."""
import json
import sys

try:
    import jsonschema
except ImportError:
    sys.exit(77)

with open(sys.argv[1], encoding="utf-8") as file:
    schema = json.load(file)
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
wrong = 0
for path in sys.argv[2:]:
    with open(path, encoding="utf-8") as file:
        for error in validator.iter_errors(json.load(file)):
            wrong += 1
            print(f"{path}: {'/'.join(map(str, error.absolute_path))}: {error.message[:300]}")
sys.exit(1 if wrong else 0)
