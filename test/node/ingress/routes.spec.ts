import assert from 'node:assert/strict'
import { INGRESS_ROUTES } from '../../../node/ingress/routes.ts'
import { type Running, startIngress } from './harness.ts'

describe('the table of the ingress’s routes', () => {
  let ingress: Running

  before(async () => {
    ingress = await startIngress()
  })
  after(() => ingress.close())

  it('returns the allowed methods of each path', async () => {
    const paths = new Map<string, Set<string>>()
    for (const { method, path } of Object.values(INGRESS_ROUTES).flat()) {
      paths.set(path, (paths.get(path) ?? new Set()).add(method))
    }
    for (const [path, methods] of paths) {
      const url = ingress.url + path.replaceAll(/:\w+|\*/g, 'x')
      const response = await fetch(url, { method: 'PROPPATCH' })
      const allowed = response.headers.get('allow')?.split(', ') ?? []
      assert.equal(response.status, 405, path)
      for (const method of methods) assert.ok(allowed.includes(method), `${method} ${path}: ${allowed.join(', ')}`)
      assert.equal(allowed.includes('HEAD'), methods.has('GET'), path)
      await response.body?.cancel()
    }
  })
})
