"""The description of a published dataset in Croissant 1.1 (JSON-LD), which search engines and loaders read.

It has its tables with their checksums and columns, and what the datasheet says, in the terms of Croissant's extension
for responsible AI (RAI 1.0). What nobody recorded is left out; the datasheet calls it "not recorded". The same contents
give the same bytes.

Reference: MLCommons, Croissant Format Specification 1.1; Croissant RAI Specification 1.0.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..base.numbers_in_words import many, percent, plural
from ..protocols import protocol_of
from ..questions.voting_settings import TRAITS
from ..tables import DATASET, Schema
from ..tabular.zips import checksum
from .datasheet.checklist import known_limitations
from .datasheet.facts import LICENCES, Facts
from .datasheet.sheet import COLLECTED, PSEUDONYMS, agreement_lines, collection_days
from .harnesses.programs import BOTH_ORDERS, BOTH_ORDERS_FILE, description
from .published import COMPARED, VOTES

FILE = "croissant.json"
CONFORMS_TO = ("http://mlcommons.org/croissant/1.1", "http://mlcommons.org/croissant/RAI/1.0")

# The context that the specification prints.
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "arrayShape": "cr:arrayShape",
    "citeAs": "cr:citeAs",
    "column": "cr:column",
    "conformsTo": "dct:conformsTo",
    "containedIn": "cr:containedIn",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "dct": "http://purl.org/dc/terms/",
    "description": {"@container": "@language"},
    "equivalentProperty": "cr:equivalentProperty",
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "extract": "cr:extract",
    "field": "cr:field",
    "fileProperty": "cr:fileProperty",
    "fileObject": "cr:fileObject",
    "fileSet": "cr:fileSet",
    "format": "cr:format",
    "includes": "cr:includes",
    "isArray": "cr:isArray",
    "isLiveDataset": "cr:isLiveDataset",
    "jsonPath": "cr:jsonPath",
    "key": "cr:key",
    "md5": "cr:md5",
    "name": {"@container": "@language"},
    "parentField": "cr:parentField",
    "path": "cr:path",
    "recordSet": "cr:recordSet",
    "references": "cr:references",
    "regex": "cr:regex",
    "repeated": "cr:repeated",
    "replace": "cr:replace",
    "samplingRate": "cr:samplingRate",
    "sc": "https://schema.org/",
    "separator": "cr:separator",
    "source": "cr:source",
    "subField": "cr:subField",
    "transform": "cr:transform",
}
_KINDS = {"text": "sc:Text", "int": "cr:Int64", "float": "cr:Float64"}
_ENCODINGS = {".csv": "text/csv", ".json": "application/json", ".parquet": "application/x-parquet"}

# The columns of the tables, as people read them.
_COLUMNS = {
    "area": "The semantic area that both tokens are of.",
    "token_a": "A token of the unordered pair.",
    "token_b": "The other token of the pair.",
    "score": "Higher is more related, or similar.",
    "rank": "1 is the top; ties share their average rank.",
    "lower": "Lower end of the 90% interval of the score over voters.",
    "upper": "Upper end of the 90% interval of the score over voters.",
    "rank_lower": "Lower end of the 90% interval of the rank.",
    "rank_upper": "Upper end of the 90% interval of the rank.",
    "votes": "Counted votes.",
    "ballots": "Ballots that the item was in.",
    "ranking": "The area that has a ranking of its own; empty where one ranking holds all areas.",
    "ballot": "The ballot's number; 0 is a pilot.",
    "comparison": "Counts the comparisons of a ballot from 1.",
    "role": "main or check.",
    "first": "The first item: its number in campaign/items.csv.",
    "second": "The second item: its number in campaign/items.csv.",
    "expected": "The right answer of a check; empty where there is none.",
    "check": "The kind of a check: gold, repeat, overlap or audit.",
    "voter": "The voter's pseudonym.",
    "answer": "The answer: first, second, tie or unknown; in both_orders A or B.",
    "value": "1, 0, .5 for a tie, or missing.",
    "seconds": "The comparison's share of the time of its task.",
    "status": "Whether the answer counts, or why not.",
    "source": "Who answered: person or simulated.",
    "flipped": "1 where the first item stood on the right; missing where that isn't known.",
    "pair": "Counts the comparisons from 1; each has two rows.",
    "order": "1: the first item comes first; 2: the second does.",
    "question": "What people read.",
    "choice_a": "The pair that is offered as A.",
    "choice_b": "The pair that is offered as B.",
    "share": "The share of the votes for the answer, a tie as half a vote.",
    "gap": "The distance of the two items' scores.",
}


def croissant(facts: Facts, files: Mapping[str, bytes]) -> bytes:
    """The description of a dataset whose files are these, in keys of a fixed order; UTF-8.

    Of the files, the tables are described: those in `data/` with their columns, those beside by name and checksum.
    """
    fields, about = facts.fields, facts.about
    licence = LICENCES[fields.licence][1] or fields.licence_note
    days = collection_days(facts)
    described: dict[str, Any] = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": list(CONFORMS_TO),
        "name": _text(facts.title),
        "description": _text("\n\n".join(part for part in (description(facts), fields.purpose) if part)),
        "license": licence,
        "version": facts.version,
        "creator": {"@type": "sc:Person", "name": _text(fields.authors)} if fields.authors else None,
        "citeAs": fields.citation,
        "inLanguage": fields.language,
        "dateModified": days[-1] if days else "",
        "keywords": ["word similarity", str(about["notion"]), "pairwise comparisons", "Runoff"],
        **_responsible(facts),
        "distribution": [_file(path, files[path]) for path in sorted(files) if _is_table(path)],
        "recordSet": _record_sets(facts, files),
    }
    filled = {key: value for key, value in described.items() if value not in (None, "", [], {})}
    return (json.dumps(filled, ensure_ascii=False, indent=1, allow_nan=False) + "\n").encode("utf-8")


def _text(text: str) -> dict[str, str]:
    """A name or a description, which Croissant 1.1 keeps by language; Runoff's own words are English."""
    return {"en": text}


def _is_table(path: str) -> bool:
    return path.startswith(("data/", "campaign/")) or path in ("dataset.csv", "dataset.json")


def _file(path: str, data: bytes) -> dict[str, Any]:
    return {
        "@type": "cr:FileObject",
        "@id": path,
        "name": path.rpartition("/")[2],
        "contentUrl": path,
        "contentSize": f"{len(data)} B",
        "encodingFormat": _ENCODINGS[path[path.rindex(".") :]],
        "sha256": checksum(data),
    }


def _record_sets(facts: Facts, files: Mapping[str, bytes]) -> list[dict[str, Any]]:
    items = {name: DATASET.columns.get(name, "text") for name in facts.dataset.columns}
    of_items = Schema("items", items)
    whole = "data/all.parquet" if facts.split else "data/test.parquet"
    sets = [("items", whole, of_items, "All items with their scores, best first.")]
    if facts.split:
        sets += [
            ("dev", "data/dev.parquet", of_items, "The part to tune on: its tokens are none of test's."),
            ("test", "data/test.parquet", of_items, "The part to test on."),
        ]
    sets += [
        ("votes", "data/votes.parquet", VOTES, "Each answer, counted or not, by a voter's pseudonym."),
        ("comparisons", "data/comparisons.parquet", COMPARED, "Each comparison drawn, checks among them."),
        ("both_orders", BOTH_ORDERS_FILE, BOTH_ORDERS, "The comparisons that people decided, each in both orders."),
    ]
    return [
        {
            "@type": "cr:RecordSet",
            "@id": name,
            "name": _text(name),
            "description": _text(what),
            "field": [_field(name, column, kind, path) for column, kind in schema.columns.items()],
        }
        for name, path, schema, what in sets
        if path in files
    ]


def _field(record_set: str, column: str, kind: str, path: str) -> dict[str, Any]:
    described = {
        "@type": "cr:Field",
        "@id": f"{record_set}/{column}",
        "name": _text(column),
        "description": _text(_COLUMNS[column]) if column in _COLUMNS else None,
        "dataType": _KINDS[kind],
        "source": {"fileObject": {"@id": path}, "extract": {"column": column}},
    }
    return {key: value for key, value in described.items() if value}


def _responsible(facts: Facts) -> dict[str, Any]:
    """What the datasheet says, by the properties of Croissant RAI."""
    fields, about, voters, votes = facts.fields, facts.about, facts.voters, facts.votes
    methods = [text for name in facts.protocols for _, text in protocol_of(name).about.methods]
    left_out = [f"{many(each.n_voters, 'voter')} left out: {each.reason}." for each in facts.exclusions]
    unknown, unscored = votes.by_status.get("unknown", 0), about.get("unscored_items") or 0
    contact = f"Contact: {fields.contact}." if fields.contact else ""
    described: dict[str, Any] = {
        "dataCollection": " ".join(part for part in (COLLECTED, fields.token_source) if part),
        "dataCollectionType": ["Others" if voters.n_simulated else "Surveys"],
        "dataCollectionTimeframe": collection_days(facts),
        "dataCollectionMissingData": f"{many(unknown, 'answer')} “I don't know a word here”, which are no votes; "
        f"{many(unscored, 'item')} of {facts.n_items:,} without a score, which are left out.",
        "dataCollectionRawData": "Each answer as it was given stands in campaign/votes.csv, counted or not.",
        "dataPreprocessingProtocol": [*left_out, *methods],
        "dataAnnotationProtocol": f"{facts.question}\n\n{facts.instructions}\n\nWorked examples: {facts.n_examples}.",
        "dataAnnotationPlatform": [name for name, _, _ in voters.platforms],
        "dataAnnotationAnalysis": agreement_lines(facts),
        "annotationsPerItem": _votes_per_item(facts),
        "annotatorDemographics": _demographics(facts),
        "machineAnnotationTools": [
            f"Runoff {facts.runoff}",
            *([f"{many(voters.n_simulated, 'simulated voter')} of Runoff"] if voters.n_simulated else []),
        ],
        "dataBiases": _biases(facts),
        "dataUseCases": [part for part in ("Testing: how models rank the items.", fields.purpose) if part],
        "dataLimitations": list(known_limitations(facts)),
        "personalSensitiveInformation": [part for part in (PSEUDONYMS, fields.consent) if part],
        "dataReleaseMaintenancePlan": " ".join(
            part for part in (f"Version {facts.version}." if facts.version else "", contact) if part
        ),
    }
    return {f"rai:{name}": value for name, value in described.items()}


def _votes_per_item(facts: Facts) -> str:
    if "votes" not in facts.dataset or facts.dataset.empty:
        return ""
    votes = facts.dataset["votes"]
    return (
        f"{votes.min():,} to {votes.max():,} votes per item, {votes.median():g} in the median of {len(votes):,} items; "
        f"a vote compares two items; {many(facts.votes.n_overlapping, 'comparison')} answered by several voters."
    )


def _demographics(facts: Facts) -> list[str]:
    n = facts.voters.n_people
    sentences = [plural(n, "{n} person", "{n} people")] if n else []
    if facts.fields.voters_note:
        sentences.append(facts.fields.voters_note)
    return sentences + [
        f"{TRAITS[name][0] if name in TRAITS else name}: {value}, {n:,}" for name, value, n in facts.voters.traits
    ]


def _biases(facts: Facts) -> list[str]:
    sentences = [f"{name} proposed {many(n, 'token')}; they favour that embedding." for name, n in facts.proposed_by]
    voters = facts.voters
    if voters.largest_share is not None and voters.effective is not None:
        sentences.append(
            f"The voter with the most votes gave {percent(voters.largest_share, 1)} of them; the effective number of "
            f"voters is {voters.effective:.1f} of {voters.n_people + voters.n_simulated:,}."
        )
    return sentences
