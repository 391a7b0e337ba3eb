// placeholder until the room has content
