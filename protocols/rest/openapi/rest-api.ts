import type { JsonSchema } from '../../../lib/interface/adapter.ts'
import { REQUEST_ID_HEADER } from '../../upstream/headers.ts'
import type { Definitions } from './openapi-schemas.ts'

/** `json`: the value is one JSON text. `tabDelimited` is `tsv` of OpenAPI 2.0. `cookie` of 3.2 is `form` without percent-encoding. */
export type ParameterStyle =
  | 'matrix'
  | 'label'
  | 'simple'
  | 'form'
  | 'spaceDelimited'
  | 'pipeDelimited'
  | 'tabDelimited'
  | 'deepObject'
  | 'cookie'
  | 'json'

/** How a value becomes text (OpenAPI 3.1, section 4.8.12.2.3). */
export interface Serialization {
  readonly style: ParameterStyle
  readonly explode: boolean
  /** Reserved characters (RFC 3986 §2.2) are not percent-encoded. */
  readonly allowReserved?: true
  /** 2.0 only: the styles of lists within the list, from the outermost. */
  readonly nested?: readonly ParameterStyle[]
  /** 2.0 only: an empty list is the name with an empty value. In 3 it is undefined (RFC 6570, section 2.3). */
  readonly sendsEmpty?: true
}

/** The header for an id of the request. A call may name one. Otherwise the API gets the id of the call. */
export const isRequestId = (place: string, name: string): boolean =>
  place === 'header' && name.toLowerCase() === REQUEST_ID_HEADER

export interface RestParameter extends Serialization {
  readonly name: string
  readonly in: 'path' | 'query' | 'header' | 'cookie'
  readonly required: boolean
  /** A query may have it with an empty value (`allowEmptyValue`). */
  readonly allowsEmpty?: true
  /** A path parameter whose slashes separate segments. */
  readonly spansSegments?: true
  readonly schema: JsonSchema
}

/** How a member of a form or multipart body is written. */
export interface RestEncoding {
  readonly contentType?: string
  readonly serialization?: Serialization
}

/** Stands for the items of a list that have no encoding of their own. */
export const EACH_ITEM = ''

export interface RestBody {
  readonly required: boolean
  /** Media type with its parameters, such as `application/json; v=2`. */
  readonly type: string
  readonly schema: JsonSchema
  /** Examples of its members. */
  readonly example?: Readonly<Record<string, unknown>>
  /** By member of the body, or by position in a list. Absent ones have the default of the media type. */
  readonly encoding?: Readonly<Record<string, RestEncoding>>
}

/** One operation of an imported document, with everything that a call needs. */
export interface RestOperation {
  readonly name: string
  readonly description?: string
  readonly method: string
  /** With its parameters in braces. */
  readonly path: string
  /** A fixed query, as in the document's path. */
  readonly query?: string
  /** Base address, where it differs from the API's endpoint. */
  readonly server?: string
  readonly parameters: readonly RestParameter[]
  readonly body?: RestBody
  readonly output?: JsonSchema
}

export interface RestApi {
  readonly operations: readonly RestOperation[]
  readonly definitions: Definitions
}
