"""Article master data in files: imported and exported as CSV, by the same operations as over HTTP."""
