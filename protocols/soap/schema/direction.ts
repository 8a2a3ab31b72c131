export type Schema = { [keyword: string]: unknown }

/**
 * Schemas of requests are strict: each value that they accept is accepted by the encoder. Schemas of responses are not: each value
 * that the decoder makes of valid content fits them, and such values may have other forms than those of requests.
 */
export type Direction = 'input' | 'output'
