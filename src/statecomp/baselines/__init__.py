"""The other methods of shortening a history, one file each: what StateComp is compared with."""
