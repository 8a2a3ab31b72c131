/**
 * A body: held whole, or a stream of chunks. A stream is read once, and its reader sets the pace (backpressure). Read
 * it to the end, or call the iterator's `return`, which cancels the upstream request.
 */
export type Payload = Uint8Array | AsyncIterable<Uint8Array>

/** Header names are in lower case. A name may repeat. */
export type Headers = ReadonlyArray<readonly [name: string, value: string]>
