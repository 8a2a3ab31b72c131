import type { MessageModel } from '../message/message.ts'
import type { Shape, Type } from '../schema/model.ts'

/** The fields of one object of a message. */
export interface Level {
  find(name: string): Place | undefined
  /** The problem of a rule for a field that it does not have, at this path. */
  missing(name: string, path: string): string
}

export interface Place {
  readonly type: Type | undefined
  readonly required: boolean
  /** True for an array. */
  readonly many: boolean
  /** The fields of its value, or of the items of an array. */
  readonly level: Level
}

/** A message: its content, its attachments, and its declared header blocks in `$headers`. */
export function messageLevel(message: MessageModel | undefined, isInput: boolean): Level {
  const inContent = typeLevel(message?.content, [...(message?.attachments.keys() ?? [])])
  const inHeaders: Level = {
    find(name) {
      const type = message?.headers.get(name)?.type()
      return type && { type, required: false, many: false, level: typeLevel(type) }
    },
    missing: (name, path) =>
      message?.ownHeaders.has(name) === true
        ? `The credentials of the registration set ${name} (soap_headers), so a mapping cannot.`
        : NOTHING.missing(name, path)
  }
  // The WSDL requires each attachment in every request.
  const attachment: Place = { type: undefined, required: isInput, many: false, level: NOTHING }
  return {
    ...inContent,
    find(name) {
      if (name === '$headers') return { type: undefined, required: false, many: false, level: inHeaders }
      return inContent.find(name) ?? (message?.attachments.has(name) === true ? attachment : undefined)
    }
  }
}

/** The fields of a type, which may be none. @param others - names of fields beside them */
function typeLevel(type: Type | undefined, others: readonly string[] = []): Level {
  return {
    find: (name) => placeIn(shapeOf(type), name),
    missing(_, path) {
      const names = [...namesIn(shapeOf(type)), ...others].slice(0, 20)
      return `There is no field ${path}.${names.length === 0 ? '' : ` There are: ${names.join(', ')}.`}`
    }
  }
}

const NOTHING = typeLevel(undefined)

function placeIn(shape: Shape | undefined, name: string): Place | undefined {
  if (shape === undefined) return undefined
  const place = (type: Type, required: boolean, many: boolean) => ({ type, required, many, level: typeLevel(type) })
  const member = shape.members.get(name)
  if (member !== undefined) {
    const type = member.element.type()
    return place(type, member.required, member.many || type.kind === 'array')
  }
  const use = shape.attributes.find(({ json }) => json === name)
  if (use !== undefined) return place(use.type, use.required && use.fixed === undefined, false)
  return name === 'value' && shape.text !== undefined ? place(shape.text, false, false) : undefined
}

function namesIn(shape: Shape | undefined): string[] {
  return shape === undefined ? [] : [...shape.members.keys(), ...shape.attributes.map(({ json }) => json)]
}

/** For a SOAP-encoded array, the shape of its items. */
function shapeOf(type: Type | undefined): Shape | undefined {
  if (type?.kind === 'array') return shapeOf(type.item().type())
  return type?.kind === 'complex' ? type.shape() : undefined
}
