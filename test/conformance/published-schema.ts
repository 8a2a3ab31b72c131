import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import type * as fc from 'fast-check'
import { isSoukError } from '../../lib/base/errors.ts'
import { SOAP_STEPS_MAX } from '../../lib/base/limits/soap.ts'
import type { JsonSchema } from '../../lib/interface/adapter.ts'
import { Meter } from '../../protocols/pattern/meter.ts'
import { SchemaWriter } from '../../protocols/soap/mapping/json-schema.ts'
import { Decoder } from '../../protocols/soap/message/decode.ts'
import { readEnvelope, writeEnvelope } from '../../protocols/soap/message/envelope.ts'
import type { MessageModel } from '../../protocols/soap/message/message.ts'
import type { SoapOperation } from '../../protocols/soap/message/operation.ts'
import { References } from '../../protocols/soap/message/references.ts'
import { selectOperation } from '../../protocols/soap/message/select.ts'
import type { SoapService } from '../../protocols/soap/service.ts'
import { parseXml } from '../../protocols/soap/xml/parse.ts'
import { elements } from '../../protocols/soap/xml/tree.ts'
import { SchemaSample } from './schema-sample.ts'

/** What one sample of a schema shows. */
export interface Sampled {
  /** False if the sample does not fit the schema it was made of, which says nothing. */
  readonly fits: boolean
  /** Undefined if there is nothing wrong. */
  readonly problem: string | undefined
}

/** Compares the published schemas of one operation with what the translator accepts and returns. */
export class PublishedSchema {
  readonly #service: SoapService
  readonly #name: string
  readonly #operation: SoapOperation
  readonly #input: JsonSchema
  readonly #request: ValidateFunction
  readonly #echo: ValidateFunction

  constructor(service: SoapService, name: string, operation: SoapOperation) {
    const ajv = new Ajv2020({ strict: false, allErrors: true })
    this.#service = service
    this.#name = name
    this.#operation = operation
    this.#input = new SchemaWriter('input', service.types).request(operation.input(), name)
    this.#request = ajv.compile(this.#input)
    // A request read as a response: both are documents of the same schema types.
    this.#echo = ajv.compile(new SchemaWriter('output', service.types).response(operation.input()))
  }

  /** Whether a request fits the published schema. */
  accepts(call: unknown): boolean {
    return this.#request(call)
  }

  /** Makes a request of the published schema, which has to be accepted, and to be read as a response that fits. */
  sample(g: fc.GeneratorValue): Sampled {
    const call = JSON.parse(JSON.stringify(new SchemaSample(this.#input, g).make())) as {
      readonly [name: string]: unknown
    }
    if (!this.accepts(call)) return { fits: false, problem: undefined }
    return { fits: true, problem: this.#problemOf(call) }
  }

  #problemOf(call: { readonly [name: string]: unknown }): string | undefined {
    const { types } = this.#service
    const { version } = this.#operation
    const message = this.#operation.input()
    let document: string
    try {
      const { parameters } = selectOperation(new Map([[this.#name, this.#operation]]), call)
      document = writeEnvelope(version, message, parameters, types)
    } catch (error) {
      if (!isSoukError(error)) throw error
      return `${JSON.stringify(call)} fits the schema, but: ${error.message}`
    }
    const json: unknown = JSON.parse(JSON.stringify(read(this.#service, message, document)))
    if (this.#echo(json)) return undefined
    return `${document} is read as ${JSON.stringify(json)}, but: ${JSON.stringify(this.#echo.errors?.slice(0, 5))}`
  }
}

function read({ types }: SoapService, message: MessageModel, document: string): unknown {
  const { body } = readEnvelope(parseXml(document))
  const decoder = new Decoder(types, new Meter(SOAP_STEPS_MAX), message.encoded ? new References(body) : undefined)
  const [first] = elements(body)
  if (message.wrapper === undefined) return decoder.complex(message.content, body)
  return first === undefined
    ? {}
    : message.encoded
      ? decoder.complex(message.content, first)
      : decoder.element(message.wrapper, first)
}
