"""What people see: a page for each verb, its JSON document and schema, and the live view."""
