/**
 * A body on its way: whole, or in chunks as they arrive. A stream is read once, is pulled (so that whoever reads slowly
 * slows the sender), and must be either read to its end or ended with the iterator's `return`, which cancels it upstream.
 */
export type Payload = Uint8Array | AsyncIterable<Uint8Array>

/** Header names are lower-case; a name may repeat. */
export type Headers = ReadonlyArray<readonly [name: string, value: string]>
