import assert from 'node:assert/strict'
import { answering } from '../../../helpers/scripted-upstream.ts'
import { envelope, soapBench, wsdlOf } from '../soap-kit.ts'

const WSDL = wsdlOf({
  schema:
    '<xs:element name="echo"><xs:complexType><xs:sequence><xs:element name="file" type="xs:base64Binary" minOccurs="0" maxOccurs="unbounded"/></xs:sequence></xs:complexType></xs:element>'
})
const TYPE =
  'multipart/related; type="application/xop+xml"; start="<root@x>"; start-info="text/xml"; boundary="MIME;b 1"'
const include = (id: string) =>
  `<t:file xmlns:t="urn:t"><x:Include xmlns:x="http://www.w3.org/2004/08/xop/include" href="cid:${id}"/></t:file>`
const echo = (content: string) => envelope(`<t:echo xmlns:t="urn:t">${content}</t:echo>`)
const part = (id: string, content: string | Buffer, more = '') =>
  Buffer.concat([
    Buffer.from(
      `--MIME;b 1\r\nContent-ID: <${id}>\r\nContent-Type: application/xop+xml;\r\n charset=UTF-8\r\n${more}\r\n`
    ),
    Buffer.from(content),
    Buffer.from('\r\n')
  ])
const END = Buffer.from('--MIME;b 1--\r\n')
const answer = (...parts: Buffer[]) => answering(200, { 'content-type': TYPE }, Buffer.concat(parts))

describe('SOAP attachments', () => {
  const bytes = Buffer.from([0, 13, 10, 45, 45, 255, 13, 10])

  it('appear in place as base64, from binary and encoded parts', async () => {
    const coded = part('b@x', Buffer.from('text').toString('base64'), 'Content-Transfer-Encoding: base64\r\n')
    const root = part('root@x', echo(include('a%40x') + include('b@x')))
    await using bench = await soapBench(WSDL, answer(Buffer.from('preamble\r\n'), part('a@x', bytes), root, coded, END))
    assert.deepEqual(await bench.json({ operation: 'echo' }), {
      file: [bytes.toString('base64'), Buffer.from('text').toString('base64')]
    })
  })

  it('are found by an id that is escaped in both places', async () => {
    const root = part('root@x', echo(include('1@urn%3Aws.example%2Fv1')))
    await using bench = await soapBench(WSDL, answer(root, part('1@urn%3Aws.example%2Fv1', bytes), END))
    assert.deepEqual(await bench.json({ operation: 'echo' }), { file: [bytes.toString('base64')] })
  })

  it('without a reference or a label are kept', async () => {
    const bare = Buffer.from('--MIME;b 1\r\n\r\nx\r\n')
    await using bench = await soapBench(WSDL, answer(part('root@x', echo('')), part('a@x', bytes), bare, END))
    assert.deepEqual(await bench.json({ operation: 'echo' }), {
      file: [],
      $attachments: [
        { contentType: 'application/xop+xml; charset=UTF-8', content: bytes.toString('base64') },
        { contentType: 'application/octet-stream', content: Buffer.from('x').toString('base64') }
      ]
    })
  })

  it('with the id of another one are kept', async () => {
    const root = part('root@x', echo(include('a@x')))
    await using bench = await soapBench(WSDL, answer(root, part('a@x', bytes), part('a@x', 'x'), END))
    assert.deepEqual(await bench.json({ operation: 'echo' }), {
      file: [bytes.toString('base64')],
      $attachments: [
        { contentType: 'application/xop+xml; charset=UTF-8', content: Buffer.from('x').toString('base64') }
      ]
    })
  })

  it('are read from quoted-printable parts', async () => {
    const qp = 'Content-Transfer-Encoding: quoted-printable\r\n'
    const coded = echo(include('a@x'))
      .replaceAll('=', '=3D')
      .replace(/(?:=3D|.){60}/g, '$&= \t\r\n')
    const text = 'sch=c3=B6n\r\n1 =3D 1=20\r\na=.b'
    await using bench = await soapBench(WSDL, answer(part('root@x', coded, qp), part('a@x', text, qp), END))
    assert.deepEqual(await bench.json({ operation: 'echo' }), {
      file: [Buffer.from('schön\r\n1 = 1 \r\na=.b').toString('base64')]
    })
  })

  it('are read from messages with LF as line end, whose content is kept as it is', async () => {
    const lines = (text: string) => Buffer.from(text.replaceAll('\r\n', '\n'))
    const head = lines(part('a@x', '').toString()).subarray(0, -1)
    const content = Buffer.from([0, 13, 10, 13, 10, 45, 45, 255, 10, 13])
    const root = lines(part('root@x', echo(include('a@x'))).toString())
    const message = [Buffer.from('a preamble\n'), root, head, content, Buffer.from('\n'), lines(END.toString())]
    await using bench = await soapBench(WSDL, answer(...message))
    assert.deepEqual(await bench.json({ operation: 'echo' }), { file: [content.toString('base64')] })
  })

  const broken: ReadonlyArray<readonly [what: string, parts: Buffer[], type?: string]> = [
    ['a reference to nothing', [part('root@x', echo(include('gone'))), END]],
    ['a part taken twice', [part('root@x', echo(include('a') + include('a'))), part('a', bytes), END]],
    [
      'a part that is not the base64 it says',
      [part('root@x', echo(include('a'))), part('a', '{"a": 1}', 'Content-Transfer-Encoding: base64\r\n'), END]
    ],
    ['no end', [part('root@x', echo(''))]],
    ['no part', [END]],
    ['no boundary', [part('root@x', echo('')), END], 'multipart/related'],
    ['a part without headers', [Buffer.from('--MIME;b 1\r\nx\r\n'), END]],
    ['parts without an end', [...Array.from({ length: 2_000 }, (_, i) => part(`${i}`, '')), END]]
  ]
  for (const [what, parts, type = TYPE] of broken) {
    it(`is upstream_invalid_response with ${what}`, async () => {
      await using bench = await soapBench(WSDL, answering(200, { 'content-type': type }, Buffer.concat(parts)))
      await assert.rejects(bench.json({ operation: 'echo' }), { code: 'upstream_invalid_response' })
    })
  }
})
