import assert from 'node:assert/strict'
import { soapFactory } from '../../../../protocols/soap/soap-factory.ts'
import { endsWithinLimits } from './hostile-wsdls-story.ts'
import { HOSTILE } from './hostile-wsdls.ts'
import { soapBench, wsdlOf } from '../soap-kit.ts'

describe('a hostile WSDL', () => {
  endsWithinLimits([
    'unions of two unions, thirty deep',
    'unions with facets, which cannot be flattened',
    'lists of lists of unions of lists',
    'attribute groups that refer to each other ten times',
    'a chain of 3,000 extensions',
    'a chain of 3,000 restrictions',
    'a type of 30,000 elements',
    'occurrences without an end',
    'elements within each other, 3,000 deep',
    'types that are empty and open, each within the next',
    'a document type with entities',
    'an array of 20,000 dimensions',
    'files that include each other',
    'the pattern (a|a)*b',
    'a pattern that is too large'
  ])

  it('of an earlier version is read again within the limits, and rejected', async () => {
    const { files } = HOSTILE['a chain of 30,000 groups']?.() ?? assert.fail()
    const text = typeof files === 'string' ? files : assert.fail()
    const description = { operations: [{ name: 'echo' }] }
    const snapshot = (wsdl: string) =>
      JSON.stringify({ version: 1, files: [{ url: 'http://x.invalid/svc?wsdl', text: wsdl }], description })
    await assert.rejects(async () => soapFactory.renewed?.(snapshot(text)), { code: 'description_too_complex' })
    const good = wsdlOf({ schema: '<xs:element name="echo" type="xs:string"/>' })
    const renewed = (await soapFactory.renewed?.(snapshot(good))) ?? assert.fail()
    await soapFactory.open({ endpoint: 'http://x.invalid/' }, renewed).close?.()
  })

  it('with a schema in the documentation of a definition is accepted', async () => {
    const inner = '<xs:schema><xs:element name="inner"/></xs:schema>'
    const schema = `<xs:element name="echo" type="t:T"/><xs:complexType name="T"><xs:annotation><xs:appinfo>${inner}</xs:appinfo></xs:annotation>
      <xs:sequence><xs:element name="it" type="xs:int"/></xs:sequence></xs:complexType>`
    await using bench = await soapBench(wsdlOf({ schema }))
    assert.deepEqual(await bench.json({ operation: 'echo', it: 7 }), { it: 7 })
  })
})
