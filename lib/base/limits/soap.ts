/** Limits: SOAP. */
import { KiB, MiB } from './units.ts'

/** Files of one WSDL, imports included. */
export const WSDL_FILES_MAX = 20
/** Bytes of one WSDL, imports included. */
export const WSDL_BYTES_MAX = 5 * MiB
/** Entries of a zip with a WSDL. Such zips also contain documents and samples. */
export const WSDL_ZIP_ENTRIES_MAX = 1_000
/** Schema definitions of a WSDL, indexed at start. 5 MiB of ordinary schemas contain 35,000. */
export const SCHEMA_DEFINITIONS_MAX = 50_000
/** Elements, attributes, values and members of all types of a WSDL, inherited ones counted each time. */
export const SCHEMA_PARTS_MAX = 1_000_000
/** Elements, attributes, values and members of one type of a WSDL, which is compiled in one step. */
export const SCHEMA_TYPE_PARTS_MAX = 20_000
/** Derivation steps of a type, and nested groups. Real schemas have up to 20. */
export const SCHEMA_DERIVATIONS_MAX = 100
/** Nesting of an XML document. More is an attack or a bug. */
export const XML_DEPTH_MAX = 128
/** One XML tag with its attributes. Parsers are slow on longer ones; real tags have a few hundred characters. */
export const XML_TAG_CHARS_MAX = 64 * KiB
/** Elements and attributes of one XML document. Each takes 100 to 300 bytes of memory; 10 MiB of rows have 600,000. */
export const XML_PARTS_MAX = 1_000_000
/** Detail of a SOAP fault. It is part of an error, which each hop holds whole. */
export const FAULT_DETAIL_BYTES_MAX = 8 * KiB
/** SOAP document translated on the main thread in about 1 ms. A worker thread would add half of that. */
export const SOAP_INLINE_BYTES_MAX = 64 * KiB
/** Steps on the main thread: 50 ms at worst. A document that needs more moves to the worker thread. */
export const SOAP_INLINE_STEPS_MAX = 5_000_000
/** Steps on the worker thread: 5 s at worst. No other API waits for it. */
export const SOAP_STEPS_MAX = 500_000_000
/** Stored form of a WSDL: its files and their index. A node reads it at start. */
export const SOAP_SNAPSHOT_CHARS_MAX = 16 * MiB
/** Nodes and characters that references of one SOAP-encoded response expand to: the size of a response. */
export const SOAP_REFERENCED_MAX = 10 * MiB
/** Smaller binary content stays in the envelope with MTOM: a part's headers are as long. */
export const SOAP_MTOM_BYTES_MIN = 512
/** Attachments of one SOAP message. */
export const SOAP_ATTACHMENTS_MAX = 1_000
/** Items that a sparse SOAP-encoded array may skip at once. They become nulls in JSON. */
export const SOAP_ARRAY_GAP_MAX = 10_000
/** Problems of one call that its error lists. Clients show and correct a few at a time. */
export const SOAP_PROBLEMS_MAX = 20
/** Characters of these problems with their paths. Below the size at which an error loses its members. */
export const SOAP_PROBLEMS_CHARS_MAX = 12_000
