import assert from 'node:assert/strict'
import type { Problem } from '../../lib/index.ts'
import type { DoctorView, StatusView } from '../../node/admin/api.ts'
import type { IssuedKeyView } from '../../node/admin/accounts/key-api.ts'
import { eventually } from '../helpers/eventually.ts'
import { post } from '../helpers/ingress-client.ts'
import { type JudgeApi, judgeApi } from '../helpers/judge-api.ts'
import { makeDisk, mayMount, MIB, type SmallDisk } from '../helpers/small-disk.ts'
import { type NodeProcess, type SoukHome, soukHome, tellWhenFailed } from '../helpers/souk-home.ts'

const DISK_MIB = 192
const NOTICED_MS = 10_000
/** sysexits.h: EX_IOERR. */
const EX_IOERR = 74

/** Needs a separate file system, because filling a shared one would harm other processes. */
if (mayMount()) {
  describe('a node whose disk fills up', () => {
    let disk: SmallDisk
    let home: SoukHome
    let api: JudgeApi
    let node: NodeProcess
    let key: string

    const call = (id: string) =>
      post(node.ingress, 'judge', { key, body: { id }, headers: { 'idempotency-key': id }, boundMs: 10_000 })
    const readiness = async () => (await fetch(`${node.ingress}/readyz`)).status

    before(async () => {
      disk = makeDisk(DISK_MIB)
      home = await soukHome({ parent: disk.directory })
      api = await judgeApi('full')
      node = await home.asProcess.up('node')
      await node.cli(`api register --name judge --protocol REST --endpoint ${api.url} --price 0.001`)
      ;({ key } = await node.cli<IssuedKeyView>('key issue'))
      assert.equal((await call('first')).status, 200)
    })
    tellWhenFailed(() => home)
    after(async () => {
      await home?.close()
      await api?.close()
      disk?.close()
    })

    it('rejects calls at low disk space, serves other routes, and recovers when space is free', async () => {
      disk.fillTo(100 * MIB)
      await eventually('the node to notice', NOTICED_MS, async () => (await readiness()) === 503 || undefined)
      const refused = await call('refused')
      assert.equal(refused.status, 503)
      const { code, charged, retryable } = refused.json as Problem
      assert.deepEqual({ code, charged, retryable }, { code: 'storage_full', charged: false, retryable: true })
      assert.ok(Number(refused.headers.get('retry-after')) > 0)
      assert.ok(!api.reached.includes('refused'))
      for (const path of ['/livez', '/v1/apis', '/v1/apis/judge', '/']) {
        assert.equal((await fetch(`${node.ingress}${path}`)).status, 200, path)
      }
      const { store } = await node.cli<StatusView>('status')
      assert.deepEqual({ ...store, free_bytes: 0 }, { free_bytes: 0, shared: null, refusal: 'storage_full' })
      assert.ok(store.free_bytes! < 128 * MIB)
      const doctor = JSON.parse((await home.asProcess.run('--profile node --json doctor')).stdout) as DoctorView
      assert.equal(doctor.checks.find(({ name }) => name === 'disk')?.result, 'fail')
      disk.clear()
      await eventually('the node to go on', NOTICED_MS, async () => (await readiness()) === 200 || undefined)
      assert.equal((await call('refused')).status, 200)
    })

    it('exits with EX_IOERR and a clear message if a commit fails, and loses nothing', async () => {
      api.hold()
      const held = call('held').catch(() => undefined)
      await eventually('the call to reach the API', NOTICED_MS, () => api.held === 1 || undefined)
      disk.fillTo(0)
      api.release()
      await eventually('the end', NOTICED_MS, () => !node.isRunning() || undefined)
      await held
      const { code } = await node.end('SIGTERM')
      const words = node.stderr.join('\n')
      assert.equal(code, EX_IOERR, words)
      assert.match(words, /"code":"store_failed","what":"[^"]*souk\.db cannot be written: the disk is full\."/)
      assert.doesNotMatch(words, /SuppressedError|^ {2,}at /m)
      const { code: again, stderr } = await home.asProcess.run('up --network dev --no-input --profile node')
      assert.equal(again, EX_IOERR, stderr)
      assert.doesNotMatch(stderr, /^ {2,}at /m)
      disk.clear()
      node = await home.asProcess.up('node')
      assert.equal((await call('first')).headers.get('idempotency-replayed'), 'true')
      assert.equal((await call('after')).status, 200)
      assert.equal(api.reached.filter((id) => id === 'held').length, 1)
    })

    it('exits with a clear message if its file system is read-only', async () => {
      // A file system with files open for writing cannot be remounted.
      await node.end('SIGTERM')
      disk.remount('ro')
      try {
        const { code, stderr } = await home.asProcess.run('up --network dev --no-input --profile node')
        assert.equal(code, EX_IOERR, stderr)
        assert.match(stderr, /^souk: .* cannot be written: its file system is read-only\.$/m)
        assert.doesNotMatch(stderr, /^ {2,}at /m)
      } finally {
        disk.remount('rw')
      }
    })
  })
}
