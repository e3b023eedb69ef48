-- Documents are lines: none of them holds a line break.
INSERT INTO {{table}} (writer, sequence, doc)
SELECT
    {{writer}}::SMALLINT,
    unnest(range({{first}}::BIGINT, {{end}}::BIGINT)),
    unnest(string_split({{rows}}, chr(10)))::JSON{{document_cast}};
