import type { JsonSchema } from '../lib/interface/adapter.ts'

/**
 * The name of a protocol, how its APIs are registered, and what its calls look like. It is only data, so the command line and the
 * console can load it without the adapter. It is in `<protocol>-descriptor.ts`, next to the factory.
 */
export interface ProtocolDescriptor {
  /** The name in manifests, flags and listings: a letter, then letters, digits, `+`, `-` or `.`. */
  readonly name: string
  /** A short description for people, e.g. `JSON over HTTP`. */
  readonly about: string
  /** Where the description of an API can come from. The first one is the default. */
  readonly sources: readonly [DescriptionSource, ...DescriptionSource[]]
  /** The form of every call. If absent, a call names an operation and gives its fields. */
  readonly request?: RequestForm
  /** The operation of an API without a description. Calls need not name it, nor the only operation of an API. */
  readonly unnamedOperation?: string
  /** True if a response is never a stream. */
  readonly isUnaryOnly?: true
  /** True if a call may cost less than the listed price. */
  readonly isPriceCeiling?: true
  /** True if the provider can change the JSON. The factory then has `mapping`. */
  readonly hasMapping?: true
}

/** A form of request that all APIs of a protocol share, such as GraphQL's `query` with `variables`. */
export interface RequestForm {
  /** The name of the tool for agents. */
  readonly name: string
  readonly schema: JsonSchema
  /** The input of the tool for agents. It may differ from `schema`: GraphQL's has `documentId` in place of `extensions`. */
  readonly toolProperties: Readonly<Record<string, { readonly type: string; readonly description?: string }>>
  /** A request that every API of the protocol can answer. */
  readonly example: Readonly<Record<string, unknown>>
}

/** One way to give the description of an API, as a part of the registration form. */
export interface DescriptionSource {
  /** `url`: read from an address. `file`: uploaded by the provider. `hand`: no description. */
  readonly from: 'url' | 'file' | 'hand'
  readonly label: string
  readonly endpoint: FieldForm
  /** The address of the description, if it is not the endpoint. */
  readonly document?: FieldForm
  readonly file?: FileForm
}

interface FieldForm {
  readonly label: string
  readonly placeholder: string
}

interface FileForm {
  readonly label: string
  readonly hint?: string
  /** The file name extensions, as the `accept` attribute of an HTML file field. */
  readonly accept: string
  readonly isSeveral?: true
  /** The member of a registration that holds the file: `openapi`, `wsdl`, or `graphql` with its `schema`. */
  readonly member: 'openapi' | 'wsdl' | 'graphql'
  /** The option of `souk api register` that takes the file. */
  readonly option: string
  readonly example: string
}
