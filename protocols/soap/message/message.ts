import { groupOf } from '../schema/compile-particle.ts'
import { shapeOfParticle } from '../schema/compile-shape.ts'
import { ANY_TYPE, type ComplexType, type ElementUse } from '../schema/model.ts'

/**
 * The content of the SOAP body. With a wrapper, JSON is the content of that one element; without one, the members are the
 * elements of the body.
 *
 * | Binding                                            | wrapper                                  | JSON                       |
 * |----------------------------------------------------|------------------------------------------|----------------------------|
 * | document/literal, one element of a complex type    | that element                             | its content                |
 * | document/literal, one element with text            | none                                     | `{ element: value }`       |
 * | document/literal, several parts                    | none                                     | `{ element: content, … }`  |
 * | document/literal, no part                          | none                                     | `{}`                       |
 * | rpc/literal, rpc/encoded                           | the operation's name (+ `Response`)      | `{ part: content, … }`     |
 *
 * For example, `<getBalanceResponse><balance>1</balance></getBalanceResponse>` is `{"balance": 1}`, and a single `<return>`
 * stays `{"return": …}`. Declared header blocks are the members of `$headers`.
 */
export interface MessageModel {
  readonly wrapper: ElementUse | undefined
  readonly content: ComplexType
  /** SOAP encoding: values have an `xsi:type`, arrays an `arrayType`, and references are resolved. */
  readonly encoded: boolean
  /** Declared header blocks by JSON name, without the provider's own. */
  readonly headers: ReadonlyMap<string, ElementUse>
  /** Declared header blocks that the provider sets, by the provider's names. */
  readonly ownHeaders: ReadonlyMap<string, ElementUse>
  /** Attachments by JSON name. */
  readonly attachments: ReadonlyMap<string, AttachmentUse>
}

export interface AttachmentUse {
  /** The part's name. */
  readonly name: string
  /** Allowed media types, which may contain `*`; empty means any. */
  readonly types: readonly string[]
}

/** The parts of a message as a schema sequence. */
export function listing(uses: readonly ElementUse[], label: string): ComplexType {
  const shape = shapeOfParticle(
    groupOf(
      'sequence',
      uses.map((element) => ({ kind: 'element', element, min: 1, max: 1 }))
    )
  )
  return { kind: 'complex', name: undefined, label, abstract: false, base: () => ANY_TYPE, shape: () => shape }
}
