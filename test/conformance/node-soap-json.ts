import type { ElementUse, Shape, Type } from '../../protocols/soap/schema/model.ts'
import type { MessageModel } from '../../protocols/soap/message/message.ts'

type Json = { readonly [name: string]: unknown }

/**
 * Converts node-soap's JSON to ours. There, attributes are in an object `attributes`, and text beside them is `$value`. The model
 * distinguishes such an object from an element with that name.
 */
export function fromNodeSoap(message: MessageModel, json: unknown): Json {
  const shape = message.content.shape()
  const [only] = shape.members.values()
  // A message of one text with attributes, which node-soap writes without the element's name.
  const isText = message.wrapper === undefined && isJson(json) && Object.hasOwn(json, '$value')
  if (isJson(json) && !isText) return convertObject(shape, json)
  return only === undefined ? {} : { [only.json]: convert(only.element, json) }
}

function convert(use: ElementUse | undefined, json: unknown): unknown {
  return convertAs(use?.type(), json)
}

function convertAs(type: Type | undefined, json: unknown): unknown {
  if (Array.isArray(json)) return json.map((item) => convertAs(type, item))
  if (!isJson(json)) return json
  return convertObject(type?.kind === 'complex' ? type.shape() : undefined, json)
}

function convertObject(shape: Shape | undefined, json: Json): Json {
  const converted: { [name: string]: unknown } = {}
  for (const [name, value] of Object.entries(json)) {
    const member = shape?.members.get(name)
    if (name === '$value') converted.value = value
    else if (name === 'attributes' && isJson(value) && (member === undefined || areAttributes(shape, value))) {
      for (const [key, text] of Object.entries(value)) converted[`@${key}`] = text
    } else converted[name] = convert(member?.element, value)
  }
  return converted
}

function areAttributes(shape: Shape | undefined, value: Json): boolean {
  return Object.keys(value).every((key) => shape?.attributes.some(({ name }) => name === key))
}

function isJson(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
