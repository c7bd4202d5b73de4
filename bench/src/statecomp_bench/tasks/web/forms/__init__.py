"""Put validation rules into forms and a script."""
