import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { Decoder } from '../../../protocols/soap/message/decode.ts'
import { SOAP_STEPS_MAX } from '../../../lib/base/limits/soap.ts'
import { Meter } from '../../../protocols/pattern/meter.ts'
import { readEnvelope, writeEnvelope } from '../../../protocols/soap/message/envelope.ts'
import { openService, planService } from '../../../protocols/soap/service.ts'
import { parseWsdlFiles } from '../../../protocols/soap/wsdl/wsdl-files.ts'
import { parseXml } from '../../../protocols/soap/xml/parse.ts'
import { isXmlText } from '../../../protocols/soap/xml/text.ts'
import { elements } from '../../../protocols/soap/xml/tree.ts'
import { reversed, wsdlOf } from './soap-kit.ts'
import { fuzzRuns } from '../../helpers/fuzz-runs.ts'

/** A part of a schema, with its valid values. */
interface Sample {
  /** The type's name, or the type itself. */
  readonly type: { readonly name: string } | { readonly xml: string }
  readonly value: fc.Arbitrary<unknown>
}

const text = fc.string({ unit: 'binary', maxLength: 12 }).filter(isXmlText)
const SIMPLE: ReadonlyArray<readonly [name: string, value: fc.Arbitrary<unknown>]> = [
  ['string', text],
  ['int', fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 })],
  ['boolean', fc.boolean()],
  [
    'long',
    fc
      .bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n })
      .map((n) => (Number.isSafeInteger(Number(n)) ? Number(n) : `${n}`))
  ],
  ['dateTime', fc.constantFrom('2026-01-02T03:04:05', '2026-01-02T03:04:05.120Z', '-0001-12-31T23:59:59+14:00')],
  ['base64Binary', fc.uint8Array({ maxLength: 9 }).map((bytes) => Buffer.from(bytes).toString('base64'))],
  ['double', fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0)]
]
const simple: fc.Arbitrary<Sample> = fc
  .constantFrom(...SIMPLE)
  .map(([name, value]) => ({ type: { name: `xs:${name}` }, value }))

interface FieldInit {
  readonly sample: Sample
  readonly occurs: 'one' | 'optional' | 'many' | 'nillable'
}

/** A sequence, an `all` or a choice of fields, with attributes. */
const structure = (inner: fc.Arbitrary<Sample>): fc.Arbitrary<Sample> =>
  fc
    .record({
      fields: fc.array(
        fc.record({
          sample: inner,
          occurs: fc.constantFrom('one' as const, 'optional' as const, 'many' as const, 'nillable' as const)
        }),
        { maxLength: 4 }
      ),
      attributes: fc.array(fc.record({ sample: simple, required: fc.boolean() }), { maxLength: 2 }),
      group: fc.constantFrom('sequence', 'choice', 'pairs')
    })
    .map(({ fields, attributes, group }) => {
      const xml = `<xs:complexType>${contentOf(fields, group)}${attributes
        .map(
          ({ sample, required }, i) =>
            `<xs:attribute name="at${i}" ${typeOf(sample)} use="${required ? 'required' : 'optional'}"/>`
        )
        .join('')}</xs:complexType>`
      return { type: { xml }, value: valueOf(fields, attributes, group) }
    })

function contentOf(fields: readonly FieldInit[], group: string): string {
  const particles = fields.map(({ sample, occurs }, i) => {
    const many = group === 'pairs' ? '' : occurs === 'many' ? 'minOccurs="0" maxOccurs="unbounded"' : ''
    const count = group === 'sequence' && occurs === 'optional' ? 'minOccurs="0"' : many
    const nillable = occurs === 'nillable' ? 'nillable="true"' : ''
    return 'name' in sample.type
      ? `<xs:element name="f${i}" type="${sample.type.name}" ${count} ${nillable}/>`
      : `<xs:element name="f${i}" ${count} ${nillable}>${sample.type.xml}</xs:element>`
  })
  const kind = group === 'choice' ? 'choice' : 'sequence'
  const occurs = group === 'pairs' ? 'minOccurs="0" maxOccurs="unbounded"' : group === 'choice' ? 'minOccurs="0"' : ''
  return `<xs:${kind} ${occurs}>${particles.join('')}</xs:${kind}>`
}

function typeOf({ type }: Sample): string {
  return 'name' in type ? `type="${type.name}"` : ''
}

function valueOf(
  fields: readonly FieldInit[],
  attributes: ReadonlyArray<{ readonly sample: Sample; readonly required: boolean }>,
  group: string
): fc.Arbitrary<unknown> {
  const values: Record<string, fc.Arbitrary<unknown>> = {}
  for (const [i, { sample, required }] of attributes.entries()) {
    values[`at${i}`] = required ? sample.value : fc.option(sample.value, { nil: undefined })
  }
  const own = (field: FieldInit) =>
    field.occurs === 'nillable' ? fc.option(field.sample.value, { nil: null }) : field.sample.value
  if (group === 'sequence') {
    for (const [i, field] of fields.entries()) {
      const value = own(field)
      values[`f${i}`] =
        field.occurs === 'many'
          ? fc.array(value, { maxLength: 3 })
          : field.occurs === 'optional'
            ? fc.option(value, { nil: undefined })
            : value
    }
    return fc.record(values).map(defined)
  }
  if (group === 'pairs') {
    // A repeated group has one of each element per repetition.
    return fc.integer({ min: 0, max: 3 }).chain((rounds) => {
      const all = { ...values }
      for (const [i, field] of fields.entries()) {
        all[`f${i}`] = fc.array(own(field), { minLength: rounds, maxLength: rounds })
      }
      return fc.record(all).map(defined)
    })
  }
  return fc.option(fc.nat({ max: Math.max(0, fields.length - 1) }), { nil: undefined }).chain((chosen) => {
    const field = chosen === undefined ? undefined : fields[chosen]
    const all = { ...values }
    if (field !== undefined) {
      const value = own(field)
      all[`f${chosen}`] = field.occurs === 'many' ? fc.array(value, { minLength: 1, maxLength: 3 }) : value
    }
    return fc.record(all).map(defined)
  })
}

/** JSON after `JSON.stringify`. */
const defined = (value: object) => JSON.parse(JSON.stringify(value)) as unknown

const { structures } = fc.letrec<{ structures: Sample; leaf: Sample }>((tie) => ({
  structures: structure(tie('leaf')),
  leaf: fc.oneof({ maxDepth: 3, withCrossShrink: true }, simple, tie('structures'))
}))
const cases = structures.chain(({ type, value }) =>
  fc.record({ schema: fc.constant('xml' in type ? `<xs:element name="echo">${type.xml}</xs:element>` : ''), value })
)

describe('SOAP round trips', () => {
  it('return every valid value of every schema, for any order of fields', () => {
    fc.assert(
      fc.property(cases, ({ schema, value }) => {
        const service = openService(
          planService(parseWsdlFiles([{ url: 'http://x.invalid/', text: wsdlOf({ schema }) }]))
        )
        const echo = service.operations.get('echo') ?? assert.fail()
        const document = writeEnvelope('1.1', echo.input(), reversed(value) as object as never, service.types)
        const { wrapper } = echo.output?.() ?? assert.fail()
        const [element] = elements(readEnvelope(parseXml(document)).body)
        const json = new Decoder(service.types, new Meter(SOAP_STEPS_MAX)).element(
          wrapper ?? assert.fail(),
          element ?? assert.fail()
        )
        assert.deepEqual(JSON.parse(JSON.stringify(json)), value, document)
      }),
      fuzzRuns(300)
    )
  })
})
