import assert from 'node:assert/strict'
import { isLoopback } from '../../../node/http/loopback.ts'

describe('isLoopback', () => {
  it('recognises loopback addresses', () => {
    for (const host of ['localhost', '127.0.0.1', '127.8.8.8', '::1', '[::1]', '::ffff:127.0.0.1'])
      assert.ok(isLoopback(host), host)
    for (const host of ['0.0.0.0', '::', '10.0.0.1', '127.0.0.1.example.com', '::ffff:10.0.0.1', 'example.com', '']) {
      assert.ok(!isLoopback(host), host)
    }
  })
})
