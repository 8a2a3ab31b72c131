import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { isSoukError } from '../../../../lib/base/errors.ts'
import { faultOf } from '../../../../lib/store/postgres/server.ts'
import { createPostgresStore } from '../../../../lib/store/postgres/store.ts'
import { type PostgresTls, tlsPostgres } from '../../../helpers/postgres-tls.ts'
import { SELF_SIGNED } from '../../../helpers/self-signed.ts'
import { createRole, dropRole, outageBench } from './outage-bench.ts'

const ROLE = 'souk_rejected'

describe('a PostgreSQL that cannot be used', () => {
  const bench = outageBench()
  let admin: Client
  let tls: PostgresTls
  let directory: string

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'souk-rejection-'))
    await writeFile(join(directory, 'ca.pem'), SELF_SIGNED.cert)
  })
  beforeEach(async () => {
    admin = new Client({ connectionString: bench.url })
    await admin.connect()
    tls = await tlsPostgres(Number(new URL(bench.url).port))
  })
  afterEach(async () => {
    await admin.end()
    await tls.close()
  })
  after(() => rm(directory, { recursive: true, force: true }))

  /** The URL of the test's database, changed. */
  function at(change: (url: URL) => void): string {
    const url = new URL(bench.url)
    change(url)
    return url.href
  }
  const encrypted = (parameters: Readonly<Record<string, string>>) =>
    at((to) => {
      to.port = String(tls.port)
      for (const [name, value] of Object.entries(parameters)) to.searchParams.set(name, value)
    })
  async function refuses(url: string, words: RegExp): Promise<void> {
    await assert.rejects(createPostgresStore({ url }).open(), (error) => {
      assert.ok(isSoukError(error))
      assert.equal(error.code, 'internal_error')
      assert.match(error.message, words)
      assert.doesNotMatch(error.message, /127\.0\.0\.1|localhost|postgres:/)
      return true
    })
  }

  it('has no TLS, which the address asks for', async () => {
    for (const mode of ['require', 'verify-full']) {
      await refuses(
        at((to) => to.searchParams.set('sslmode', mode)),
        /: it does not support TLS, .*sslmode/
      )
    }
  })

  it('has a certificate that nobody knows, also with sslmode=require', async () => {
    const warnings: Error[] = []
    const hear = (warning: Error) => warnings.push(warning)
    process.on('warning', hear)
    for (const sslmode of ['prefer', 'require', 'verify-ca', 'verify-full']) {
      await refuses(encrypted({ sslmode }), /not from a known authority.* sslrootcert=<file>/)
    }
    process.off('warning', hear)
    assert.deepEqual(warnings, [])
  })

  it('works with the certificate of its authority, or without a check', async () => {
    const sslrootcert = join(directory, 'ca.pem')
    for (const parameters of [{ sslmode: 'require', sslrootcert }, { sslmode: 'no-verify' }]) {
      const store = await bench.open(encrypted(parameters))
      await store.documents.put('a', 'b', '1')
      assert.equal(await store.documents.get('a', 'b'), '1')
    }
  })

  it('has a certificate for another host', async () => {
    const other = await tlsPostgres(Number(new URL(bench.url).port), '127.0.0.2')
    try {
      const url = new URL(encrypted({ sslmode: 'require', sslrootcert: join(directory, 'ca.pem') }))
      url.host = `127.0.0.2:${other.port}`
      await refuses(url.href, /certificate is for another host name/)
    } finally {
      await other.close()
    }
  })

  it('has an address with a file that is missing', async () => {
    await refuses(encrypted({ sslmode: 'require', sslrootcert: join(directory, 'none.pem') }), /file .* cannot be read/)
  })

  it('has an address with unknown options', async () => {
    await refuses(
      at((to) => to.searchParams.set('options', '-c nonsense=1')),
      /does not know a setting in the options/
    )
    await refuses(
      at((to) => to.searchParams.set('options', '-c search_path=nowhere')),
      /no schema of the name in search_path/
    )
    await refuses(
      at((to) => (to.pathname = '/template0')),
      /lets nobody connect to this database/
    )
  })

  it('has an address with a parameter that has no effect, such as a mistyped sslmode', async () => {
    const ignored = [
      ['sslmod', 'require'],
      ['sslMode', 'require'],
      ['dbname', 'other'],
      ['schema', 'other'],
      ['query_timeout', '0']
    ] as const
    for (const [name, value] of ignored) {
      await refuses(
        at((to) => to.searchParams.set(name, value)),
        new RegExp(`does not know: ${name}\\. .*sslmode`)
      )
    }
    for (const mode of ['', 'requre', 'REQUIRE']) {
      await refuses(
        at((to) => to.searchParams.set('sslmode', mode)),
        /unknown sslmode\. .*verify-full/
      )
    }
    await refuses(
      at((to) => to.searchParams.set('port', 'x')),
      /port that is not a number/
    )
    await refuses('postgres://souk:5432?secret@db/souk', /^(?!.*secret).*write %3F for \?\.$/)
    const store = await bench.open(at((to) => to.searchParams.set('channel_binding', 'require')))
    assert.equal(await store.documents.get('a', 'b'), undefined)
  })

  it('has an encoding without all characters', async () => {
    await admin.query(`CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'`)
    try {
      await refuses(
        at((to) => (to.pathname = '/latin')),
        /the encoding LATIN1, .*createdb --encoding UTF8/
      )
    } finally {
      await admin.query('DROP DATABASE latin WITH (FORCE)')
    }
  })

  it('is too old', () => {
    assert.match(
      faultOf({ number: 120_022, version: '12.22', encoding: 'UTF8' }) ?? '',
      /PostgreSQL 12\.22\. .* 13 or newer/
    )
    assert.equal(faultOf({ number: 130_000, version: '13.0', encoding: 'UTF8' }), undefined)
    assert.equal(faultOf({ number: 180_004, version: '18.4', encoding: 'SQL_ASCII' }), undefined)
  })

  describe('for its user', () => {
    let url: string
    beforeEach(async () => {
      url = await createRole(admin, ROLE, bench.url)
    })
    afterEach(async () => {
      await dropRole(admin, ROLE)
    })

    it('lets nobody log in', async () => {
      await admin.query(`ALTER ROLE ${ROLE} NOLOGIN`)
      await refuses(url, /do not let this user connect from here/)
    })

    it('is away while its password is another one', async () => {
      const store = createPostgresStore({ url })
      await store.open()
      try {
        await admin.query(`ALTER ROLE ${ROLE} PASSWORD 'other'`)
        await assert.rejects(store.documents.get('a', 'b'), {
          code: 'store_unavailable',
          message: /refuses the user or the password/
        })
        await admin.query(`ALTER ROLE ${ROLE} PASSWORD 'test'`)
        assert.equal(await store.documents.get('a', 'b'), undefined)
      } finally {
        await store.close()
      }
    })
  })
})
