import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { wsdlOf } from './soap-kit.ts'

const SCRIPT = resolve(import.meta.dirname, '../../conformance/soap.ts')
const WSDL = wsdlOf({
  types: `<xs:schema targetNamespace="urn:t" elementFormDefault="qualified"><xs:include schemaLocation="more types.xsd"/>
    <xs:element name="echo"><xs:complexType><xs:sequence><xs:element name="a" type="t:Price"/><xs:element name="b" type="xs:int" maxOccurs="2"/></xs:sequence></xs:complexType></xs:element></xs:schema>`
})
const MORE =
  '<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema"><xs:complexType name="Price"><xs:simpleContent><xs:extension base="xs:decimal"><xs:attribute name="currency"/></xs:extension></xs:simpleContent></xs:complexType></xs:schema>'
const echo = (content: string) => `<x:echo xmlns:x="urn:t">${content}</x:echo>`
const right = echo('<x:a currency="abc">abc</x:a><x:b>abc</x:b><x:b>abc</x:b>')
const json = { b: ['abc', 'abc'], a: { $value: 'abc', attributes: { currency: 'abc' } } }

/** Values of their types, which are checked as in a call. */
const typed = { b: [1, 2], a: { $value: 1, attributes: { currency: 'abc' } } }

describe('npm run conformance:soap', () => {
  let directory: string
  beforeEach(async () => {
    directory = await mkdtemp(join(tmpdir(), 'souk-conformance-'))
  })
  afterEach(() => rm(directory, { recursive: true }))

  async function run(cases: readonly object[]): Promise<{ lines: string[]; result: Record<string, number> }> {
    await mkdir(join(directory, 'one'))
    await writeFile(join(directory, 'one/svc.wsdl'), WSDL)
    await writeFile(join(directory, 'one/more types.xsd'), MORE)
    const same = { service: 'S', port: 'Q', operation: 'echo', style: 'document' }
    await writeFile(join(directory, 'cases.jsonl'), cases.map((one) => JSON.stringify({ ...same, ...one })).join('\n'))
    const child = spawn(process.execPath, ['--conditions=development', SCRIPT, directory], {
      stdio: ['ignore', 'pipe', 2]
    })
    assert(child.stdout !== null)
    const lines = (await child.stdout.setEncoding('utf8').toArray()).join('').trim().split('\n')
    return { lines, result: JSON.parse(lines.at(-1) ?? '') as Record<string, number> }
  }

  it('counts exact cases, and lists the others', async () => {
    const { lines, result } = await run([
      { wsdl: 'one/svc.wsdl', json, xml: right },
      { wsdl: 'one/svc.wsdl', json, xml: echo('<x:b>abc</x:b>') },
      { wsdl: 'one/svc.wsdl', json, xml: right.replace('currency="abc"', '') },
      { wsdl: 'one/svc.wsdl', json: { ...json, c: 1 }, xml: right },
      { wsdl: 'one/svc.wsdl', operation: 'gone', json, xml: right },
      { wsdl: 'one/svc.wsdl', json: typed, xml: right },
      { wsdl: 'two/svc.wsdl', json, xml: right }
    ])
    assert.deepEqual(result, {
      total: 7,
      exact: 1,
      checked: 1,
      loadFailed: 1,
      differed: 4,
      refused: 1,
      wsdls: 2,
      percent: 14.28,
      operations: 1,
      samples: 5,
      misfits: 0
    })
    const listed = lines.join('\n')
    assert.match(listed, /svc\.wsdl echo: at \/echo: \{urn:t\}a instead of \{urn:t\}b/)
    assert.match(listed, /at \/echo\/a: attributes \{\}currency="abc" instead of/)
    assert.match(listed, /echo: refused: \$\.c is not known here/)
    assert.match(listed, /there is no operation gone at port Q/)
    assert.match(listed, /two\/svc\.wsdl: cannot be loaded/)
  })
})
