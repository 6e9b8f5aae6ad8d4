"""The description of the server: an OpenAPI document, written by hand as data, and the page that shows it."""
