import type { JsonSchema } from '../lib/interface/adapter.ts'

/**
 * What a protocol is called, how an API of it is registered, and how its calls look. Data only: the command line and the console load
 * it without the adapter. It stands in `<protocol>-descriptor.ts` beside the factory.
 */
export interface ProtocolDescriptor {
  /** As manifests, flags and listings have it: a letter, then letters, digits, `+`, `-` or `.`. */
  readonly name: string
  /** One phrase for people, e.g. `JSON over HTTP`. */
  readonly about: string
  /** Where the description of such an API comes from. The first one is the default. */
  readonly sources: readonly [DescriptionSource, ...DescriptionSource[]]
  /** The one request that each call is. Absent: a call names an operation and gives its fields. */
  readonly request?: RequestForm
  /** The operation of an API without a description: its calls do not name it, nor does a call of an API's only operation. */
  readonly unnamedOperation?: string
  /** A response is never a stream. */
  readonly isUnaryOnly?: true
  /** A call may cost less than the price of its listing. */
  readonly isPriceCeiling?: true
  /** The provider can change the JSON: the factory has `mapping`. */
  readonly hasMapping?: true
}

/** A request that is the same for all APIs of a protocol, as GraphQL's `query` with `variables`. */
export interface RequestForm {
  /** Names the tool of agents. */
  readonly name: string
  readonly schema: JsonSchema
  /** What agents are shown, whose tools know trusted documents instead of extensions. */
  readonly toolProperties: Readonly<Record<string, { readonly type: string; readonly description?: string }>>
  /** Every API of the protocol answers it. */
  readonly example: Readonly<Record<string, unknown>>
}

/** A part of the form that registers an API. */
export interface DescriptionSource {
  /** `url`: read from an address. `file`: given by the provider. `hand`: there is none. */
  readonly from: 'url' | 'file' | 'hand'
  readonly label: string
  readonly endpoint: FieldForm
  /** The description has an address of its own, beside the endpoint. */
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
  /** Endings of its name, as an HTML file field takes them. */
  readonly accept: string
  readonly isSeveral?: true
  /** What a registration has it as: `openapi`, `wsdl`, or `graphql` with its `schema`. */
  readonly member: 'openapi' | 'wsdl' | 'graphql'
  /** The option of `souk api register`, and the name of such a file. */
  readonly option: string
  readonly example: string
}
