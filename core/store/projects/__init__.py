"""Projects: made, planned, exported as a file and read back; the library of embeddings.

A project as a file is a zip of one CSV a table, the stored files and a manifest with checksums. It comes back bit for
bit with new ids and the same task ids; the same state gives the same bytes. Copies use it, and a deletion leaves one in
`backups/`. One ranking goes over all areas, or one over each (`plans`): a plan and a ballot carry the area they
rank, or NULL.
"""
