import type { Direction, Schema } from '../schema/direction.ts'

const ATTRIBUTE_NAME = '^@(?:\\{[^{}]*\\})?[A-Za-z_][\\w.-]*$'
const ELEMENT_NAME = '^(?:\\{[^{}]+\\})?[A-Za-z_][\\w.-]*$'
const SCALAR = { type: ['string', 'number', 'boolean'] }
/** `patternProperties` for attributes that no schema declares. */
export const OPEN_ATTRIBUTES: Schema = { [ATTRIBUTE_NAME]: SCALAR }

/** The schemas of open content (`xs:any`, `xs:anyType`) in JSON; see `generic.ts`. */
export class OpenSchemas {
  readonly #direction: Direction
  readonly #defined: (name: string, make: () => Schema) => Schema

  /** @param defined - puts a schema under `$defs` once and returns the reference to it */
  constructor(direction: Direction, defined: (name: string, make: () => Schema) => Schema) {
    this.#direction = direction
    this.#defined = defined
  }

  /** The content of an element of any type. A response may have any JSON: an object, so that it can have a description. */
  content(): Schema {
    if (this.#direction === 'output') return {}
    return this.#defined('any', () => ({
      type: [...SCALAR.type, 'object', 'array'],
      items: orNull(this.content()),
      properties: { value: SCALAR, $any: this.items() },
      patternProperties: OPEN_ATTRIBUTES,
      additionalProperties: false
    }))
  }

  /** Elements with their names, and the text between them, in document order. */
  items(): Schema {
    if (this.#direction === 'output') return { type: 'array', items: { type: ['object', 'string'] } }
    return this.#defined('anyItems', () => this.#items(['object', 'string']))
  }

  /** Elements with their names, in a request that may have no text between them. */
  elements(): Schema {
    return this.#defined('anyElements', () => this.#items('object'))
  }

  #items(type: string | readonly string[]): Schema {
    return {
      type: 'array',
      items: {
        type,
        minProperties: 1,
        maxProperties: 1,
        propertyNames: { pattern: ELEMENT_NAME },
        additionalProperties: orNull(this.content())
      }
    }
  }
}

function orNull(schema: Schema): Schema {
  return { anyOf: [schema, { type: 'null' }] }
}
