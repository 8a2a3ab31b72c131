import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ADMIN_BODY_BYTES_MAX } from '../../lib/base/limits/admin.ts'
import { WSDL_BYTES_MAX } from '../../lib/base/limits/soap.ts'
import type { CallHead, DoctorView, RegisteredView } from '../../node/admin/api.ts'
import { answering, type Behaviour, type ScriptedUpstream, scriptedUpstream } from '../helpers/scripted-upstream.ts'
import { type HomeNode, type SoukHome, soukHome, tellWhenFailed } from '../helpers/souk-home.ts'
import { WSSE } from '../../protocols/soap/message/username-token.ts'
import { parseXml } from '../../protocols/soap/xml/parse.ts'
import { elements, firstElement, textOf } from '../../protocols/soap/xml/tree.ts'
import { zipOf } from '../helpers/zip.ts'

type Called = CallHead & { readonly body: unknown }

const XML = { 'content-type': 'text/xml' }
const TYPES = `<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:t" elementFormDefault="qualified">
  <xs:element name="größe" type="xs:int"/></xs:schema>`
const wsdl = (location: string) => `<?xml version="1.0" encoding="ISO-8859-1"?>
<wsdl:definitions targetNamespace="urn:t" xmlns:t="urn:t" xmlns:wsdl="http://schemas.xmlsoap.org/wsdl/"
  xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:soap="http://schemas.xmlsoap.org/wsdl/soap/">
  <wsdl:types><xs:schema targetNamespace="urn:t"><xs:include schemaLocation="${location}"/></xs:schema></wsdl:types>
  <wsdl:message name="m"><wsdl:part name="body" element="t:größe"/></wsdl:message>
  <wsdl:portType name="P"><wsdl:operation name="echo"><wsdl:input message="t:m"/><wsdl:output message="t:m"/></wsdl:operation></wsdl:portType>
  <wsdl:binding name="B" type="t:P"><soap:binding transport="http://schemas.xmlsoap.org/soap/http"/>
    <wsdl:operation name="echo"><soap:operation soapAction="echo"/>
      <wsdl:input><soap:body use="literal"/></wsdl:input><wsdl:output><soap:body use="literal"/></wsdl:output></wsdl:operation></wsdl:binding>
  <wsdl:service name="S"><wsdl:port name="Q" binding="t:B"><soap:address location="http://inner.invalid/x"/></wsdl:port></wsdl:service>
</wsdl:definitions>`
/** Returns the received envelope, and serves no WSDL. */
const service: Behaviour = (response, received) =>
  answering(received.method === 'POST' ? 200 : 405, XML, received.body)(response, received)

/** Providers register SOAP services that serve no WSDL, by command line. */
describe('SOAP APIs', () => {
  let home: SoukHome
  let node: HomeNode
  let upstream: ScriptedUpstream

  before(async () => {
    home = await soukHome()
    upstream = await scriptedUpstream(service)
    node = await home.up('provider')
    await mkdir(join(home.directory, 'wsdl/types'), { recursive: true })
    await file('wsdl/service.wsdl', Buffer.from(wsdl('types/größe.xsd'), 'latin1'))
    await file('wsdl/types/größe.xsd', TYPES)
  })
  beforeEach(() => {
    upstream.received.length = 0
  })
  tellWhenFailed(() => home)
  after(async () => {
    await home.close()
    await upstream.close()
  })

  const file = async (name: string, content: string | Uint8Array, mode = 0o600) => {
    const path = join(home.directory, name)
    await writeFile(path, content, { mode })
    return path
  }
  const register = (name: string, ...args: string[]) =>
    node.cli<RegisteredView>(`api register --name ${name} --protocol SOAP --price 0 --endpoint`, ...args)
  const call = async (name: string) =>
    (await node.cli<Called>(`call ${name}`, JSON.stringify({ operation: 'echo', größe: 7 }))).body

  it('are registered from a file with imports beside it, called at the endpoint, and survive a restart', async () => {
    const { api, warnings } = await register(
      'by-file',
      `${upstream.url}/v1/size`,
      '--wsdl-file',
      join(home.directory, 'wsdl/service.wsdl')
    )
    assert.deepEqual(warnings, [])
    assert.deepEqual(api.operations, ['echo'])
    assert.deepEqual(await call('by-file'), { größe: 7 })
    assert.equal(upstream.received.at(-1)?.target, '/v1/size')
    const { checks } = await node.cli<DoctorView>('doctor')
    assert.deepEqual(
      checks.filter(({ result }) => result === 'fail'),
      []
    )
    await node.end()
    node = await home.up('provider')
    assert.deepEqual(await call('by-file'), { größe: 7 })
  })

  it('are registered from a zip, with a question if several files could be the WSDL', async () => {
    const entries = [
      { name: 'bundle/a.wsdl', content: Buffer.from(wsdl('x/t.xsd'), 'latin1') },
      { name: 'bundle/x/t.xsd', content: TYPES }
    ]
    await register('by-zip', `${upstream.url}/v2`, '--wsdl-file', await file('one.zip', zipOf(entries)))
    assert.deepEqual(await call('by-zip'), { größe: 7 })
    const two = await file('two.zip', zipOf([...entries, { name: 'b.wsdl', content: wsdl('bundle/x/t.xsd') }]))
    const args = ['--endpoint', upstream.url, '--wsdl-file', two]
    const asked = await home.run('--profile provider api register --name two --protocol SOAP --price 0', args)
    assert.match(asked.stderr, /Several files could be the WSDL: bundle\/a\.wsdl, b\.wsdl\. .*--wsdl-entry/)
    assert.notEqual(asked.code, 0)
    await register('two', upstream.url, '--wsdl-file', two, '--wsdl-entry', 'bundle/a.wsdl')
  })

  it('are registered from files up to the size limit of a WSDL', async () => {
    const padded = (bytes: number) => {
      const text = wsdl('t.xsd').replace('<wsdl:types>', `<!-- ${'x'.repeat(bytes)} --><wsdl:types>`)
      return file('large.wsdl', Buffer.from(text, 'latin1'))
    }
    await file('t.xsd', TYPES)
    await register('large', upstream.url, '--wsdl-file', await padded(WSDL_BYTES_MAX - 10_000))
    assert.deepEqual(await call('large'), { größe: 7 })
    const command = `--profile provider api register --name large --protocol SOAP --price 0 --endpoint ${upstream.url}`
    for (const [bytes, says] of [
      [WSDL_BYTES_MAX, /The WSDL and its imports are larger than 5242880 bytes/],
      [ADMIN_BODY_BYTES_MAX, new RegExp(`request body is larger than ${ADMIN_BODY_BYTES_MAX} bytes`)]
    ] as const) {
      const { code, stderr } = await home.run(command, ['--wsdl-file', await padded(bytes)])
      assert.notEqual(code, 0)
      assert.match(stderr, says)
    }
  })

  it('import from another origin if allowed', async () => {
    const schemas = await scriptedUpstream(answering(200, XML, TYPES))
    upstream.behave((response, received) =>
      received.method === 'POST'
        ? service(response, received)
        : answering(200, XML, Buffer.from(wsdl(`${schemas.url}/t.xsd`), 'latin1'))(response, received)
    )
    const command = '--profile provider api register --name far --protocol SOAP --price 0'
    const refused = await home.run(command, ['--endpoint', `${upstream.url}/x?wsdl`])
    const option = `--wsdl-origin ${schemas.url}`
    assert(refused.stderr.includes(option), refused.stderr)
    assert.equal(schemas.received.length, 0)
    await register('far', `${upstream.url}/x?wsdl`, ...option.split(' '))
    assert.deepEqual(await call('far'), { größe: 7 })
    upstream.behave(service)
    await schemas.close()
  })

  describe('with a login in the envelope', () => {
    const SECRET = 'pass-w0rd'
    const KEY = 'k3y-in-a-header'
    const ENVELOPE = 'http://schemas.xmlsoap.org/soap/envelope/'
    const auth = (digest: boolean) => ({
      username_token: { username: 'ann', password: SECRET, ...(digest ? { digest } : {}) },
      soap_headers: { '{urn:keys}ApiKey': { '@id': '1', value: KEY } }
    })
    const args = async (content: object) => [
      '--wsdl-file',
      join(home.directory, 'wsdl/service.wsdl'),
      '--auth-file',
      await file('auth.json', JSON.stringify(content))
    ]
    /** The header blocks of the last request to the service. */
    const seen = () => {
      const root = parseXml(upstream.received.at(-1)?.body.toString() ?? '')
      return elements(firstElement(root, ENVELOPE, 'Header') ?? assert.fail('no header'))
    }

    for (const digest of [false, true]) {
      it(`take it from the auth file, with the password as ${digest ? 'a digest' : 'text'}`, async () => {
        await register('login', upstream.url, ...(await args(auth(digest))), '--replace')
        assert.deepEqual(await call('login'), { größe: 7 })
        const [security, key, ...more] = seen()
        assert.equal(more.length, 0)
        assert.deepEqual(
          [security?.namespace, security?.name, key?.namespace, key?.name],
          [WSSE, 'Security', 'urn:keys', 'ApiKey']
        )
        assert.equal(textOf(key ?? assert.fail()), KEY)
        const token = firstElement(security ?? assert.fail(), WSSE, 'UsernameToken') ?? assert.fail()
        const [user, password, nonce = '', created = ''] = elements(token).map(textOf)
        const proof = createHash('sha1').update(Buffer.from(nonce, 'base64')).update(created).update(SECRET)
        assert.deepEqual([user, password], ['ann', digest ? proof.digest('base64') : SECRET])
        if (!digest) return
        assert(Math.abs(Date.parse(created) - Date.now()) < 60_000)
        await call('login')
        const again = elements(firstElement(seen()[0] ?? assert.fail()) ?? assert.fail()).map(textOf)
        assert.notEqual(again[2], nonce)
        assert.doesNotMatch(upstream.received.at(-1)?.body.toString() ?? '', new RegExp(SECRET))
      })
    }

    it('never reveal it', async () => {
      const said: string[] = []
      const run = async (command: string, ...more: string[]) => {
        const { stdout, stderr } = await home.run(`--profile provider ${command}`, more)
        said.push(stdout, stderr)
        return stderr
      }
      const { api } = await register('login', upstream.url, ...(await args(auth(false))), '--replace')
      said.push(JSON.stringify(api), await (await fetch(`${node.ingress}/v1/apis/${api.id}`)).text())
      await run('--json api show login')
      await run('--json mapping get login')
      await run('doctor')
      const fault = `<e:Envelope xmlns:e="${ENVELOPE}"><e:Body><e:Fault><faultcode>e:Client</faultcode><faultstring>No ${SECRET}, no ${KEY}</faultstring></e:Fault></e:Body></e:Envelope>`
      upstream.behave(answering(500, XML, fault))
      assert.match(await run('call login', '{"operation":"echo","größe":7}'), /fault/)
      upstream.behave(service)
      assert.match(
        await run('call login', '{"operation":"echo","größe":7,"$headers":{"ApiKey":"x"}}'),
        /not known here/
      )
      const wrong = { ...auth(false), soap_headers: { ApiKey: KEY } }
      const command = `api register --name login --protocol SOAP --price 0 --endpoint ${upstream.url}`
      assert.match(await run(command, ...(await args(wrong))), /ApiKey is not a declared header block/)
      assert.match(await run(command, ...(await args({ ...auth(false), soap_header: KEY }))), /soap_header/)
      for (const name of await readdir(home.directory, { recursive: true })) {
        const path = join(home.directory, name)
        if (name !== 'auth.json' && (await stat(path)).isFile()) said.push(await readFile(path, 'latin1'))
      }
      assert.doesNotMatch(said.join('\n') + home.log(), new RegExp(`${SECRET}|${KEY}`))
    })
  })
})
