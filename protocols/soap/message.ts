import { groupOf } from './compile-particle.ts'
import { shapeOfParticle } from './compile-shape.ts'
import { ANY_TYPE, type ComplexType, type ElementUse } from './model.ts'

/**
 * What stands in the SOAP body. With a wrapper, JSON is the content of that one element; without, the members are the body's
 * elements themselves.
 *
 * | Binding                                            | wrapper                                  | JSON                       |
 * |----------------------------------------------------|------------------------------------------|----------------------------|
 * | document/literal, one element of a complex type    | that element                             | its content                |
 * | document/literal, one element that holds a text    | none                                     | `{ element: value }`       |
 * | document/literal, several parts                    | none                                     | `{ element: content, … }`  |
 * | document/literal, no part                          | none                                     | `{}`                       |
 * | rpc/literal, rpc/encoded                           | the operation's name (+ `Response`)      | `{ part: content, … }`     |
 *
 * So `<getBalanceResponse><balance>1</balance></getBalanceResponse>` is `{"balance": 1}`, and a lone `<return>` stays
 * `{"return": …}`. Declared header blocks are the members of `$headers`.
 */
export interface MessageModel {
  readonly wrapper: ElementUse | undefined
  readonly content: ComplexType
  /** SOAP's encoding: values say by `xsi:type` what they are, arrays have an `arrayType`, references are followed. */
  readonly encoded: boolean
  /** Declared header blocks by their names in JSON, but for the provider's own. */
  readonly headers: ReadonlyMap<string, ElementUse>
  /** Declared header blocks that the provider sets, by the names it gave them. */
  readonly ownHeaders: ReadonlyMap<string, ElementUse>
  /** Parts beside the envelope by their names in JSON. */
  readonly attachments: ReadonlyMap<string, AttachmentUse>
}

export interface AttachmentUse {
  /** Of its part. */
  readonly name: string
  /** Media types that it may have, also with `*`; any when there are none. */
  readonly types: readonly string[]
}

/** The parts of a message as if they were a sequence of a schema. */
export function listing(uses: readonly ElementUse[], label: string): ComplexType {
  const shape = shapeOfParticle(
    groupOf(
      'sequence',
      uses.map((element) => ({ kind: 'element', element, min: 1, max: 1 }))
    )
  )
  return { kind: 'complex', name: undefined, label, abstract: false, base: () => ANY_TYPE, shape: () => shape }
}
