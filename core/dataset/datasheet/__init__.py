"""What a published dataset says of itself: its datasheet, the gold-standard checklist, the card of its folder."""
