import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { limits } from '../../../lib/index.ts'
import { checkCertificate, readCertificate, watchCertificate } from '../../../node/ingress/certificate.ts'
import { eventually } from '../../helpers/eventually.ts'
import { manualClock } from '../../helpers/manual-clock.ts'
import { RENEWED, SELF_SIGNED } from '../../helpers/self-signed.ts'
import { soukHome } from '../../helpers/souk-home.ts'
import { startIngress } from './harness.ts'

const DAY_MS = 86_400_000

describe('the certificate of an ingress', () => {
  let directory: string
  let files: { readonly certFile: string; readonly keyFile: string }

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'souk-certificate-'))
    files = { certFile: join(directory, 'cert.pem'), keyFile: join(directory, 'key.pem') }
  })
  beforeEach(() => write(SELF_SIGNED))
  after(() => rm(directory, { recursive: true, force: true }))

  const write = async ({ cert, key }: { readonly cert: string; readonly key: string }): Promise<void> => {
    await Promise.all([writeFile(files.certFile, cert), writeFile(files.keyFile, key)])
  }

  it('is refused at the start with the file at fault', async () => {
    const home = await soukHome()
    const tls = ['--tls-cert', files.certFile, '--tls-key', files.keyFile]
    const ports = ['--p2p-port', '0', '--admin-port', '0', '--ingress-port', '0']
    const start = () => home.run('up --network dev --payment-scheme metered --no-input --profile a', [...ports, ...tls])
    try {
      for (const [pair, expected] of [
        [{ ...SELF_SIGNED, key: RENEWED.key }, /key\.pem is not the key of the certificate in .*cert\.pem/],
        [{ cert: SELF_SIGNED.key, key: SELF_SIGNED.cert }, /cert\.pem has no certificate in PEM/],
        [{ ...SELF_SIGNED, key: 'none' }, /key\.pem has no private key in PEM, or needs a passphrase[^]*openssl pkey/]
      ] as const) {
        await write(pair)
        const { code, stderr } = await start()
        assert.equal(code, 78, stderr)
        assert.match(stderr, expected)
      }
    } finally {
      await home.close()
    }
  })

  it('is replaced by a renewed one while the ingress runs', async () => {
    const clock = manualClock(Date.UTC(2027, 0))
    const told: string[] = []
    const log = { info: (text: string) => void told.push(text), warn: (text: string) => void told.push(text) }
    const ingress = await startIngress({ tls: SELF_SIGNED })
    const first = await readCertificate(files)
    const watch = watchCertificate({ files, first, use: ingress.renew, clock, log })
    const shown = async (): Promise<string> => {
      const socket = connect({ host: '127.0.0.1', port: ingress.port, rejectUnauthorized: false })
      await once(socket, 'secureConnect')
      const shownCert = socket.getPeerX509Certificate()?.toString() ?? ''
      socket.destroy()
      return shownCert
    }
    const lookUntil = (message: RegExp) =>
      eventually(String(message), 5_000, async () => {
        await clock.advance(limits.CERTIFICATE_REREAD_MS)
        return message.test(told.at(-1) ?? '') || undefined
      })
    try {
      // Programs that renew certificates write one file after the other.
      await write({ ...RENEWED, key: SELF_SIGNED.key })
      await lookUntil(/keeps its certificate\. .*is not the key/)
      assert.equal(await shown(), SELF_SIGNED.cert)
      await write(RENEWED)
      await lookUntil(/uses the new certificate in .*cert\.pem, valid until 2126-11-04/)
      assert.equal(await shown(), RENEWED.cert)
    } finally {
      watch.cancel()
      await ingress.close()
    }
  })

  it('is reported when clients refuse it', async () => {
    const { from, until } = await readCertificate(files)
    const check = (now: number) => checkCertificate(files, now)
    assert.match((await check(from)).message, /^IP Address:127\.0\.0\.1, DNS:localhost; valid until 2126-10-28$/)
    assert.equal((await check(until - DAY_MS)).result, 'warn')
    for (const [now, expected] of [
      [from - 1, /is not valid before 2026-11-21, so clients refuse it/],
      [until, /expired on 2126-10-28, so clients refuse it/]
    ] as const) {
      const { result, message } = await check(now)
      assert.equal(result, 'fail')
      assert.match(message, expected)
      const warned: string[] = []
      const log = { info: () => {}, warn: (text: string) => void warned.push(text) }
      const first = await readCertificate(files)
      watchCertificate({ files, first, use: () => {}, clock: manualClock(now), log }).cancel()
      assert.match(warned[0] ?? '', expected)
    }
    await writeFile(files.keyFile, RENEWED.key)
    assert.equal((await check(from)).result, 'fail')
  })
})
