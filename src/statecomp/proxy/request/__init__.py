"""The ladder one request climbs: arrived, read, decided, sent, relayed, accounted for."""
