import assert from 'node:assert/strict'
import { isSoukError } from '../../lib/base/errors.ts'
import { type Bench, bytesOf, FOREVER, jsonOf, PROMPT_MS, plainCall, rejectsWith } from '../helpers/adapter-bench.ts'
import { answering, deadUrl, hanging, until } from '../helpers/scripted-upstream.ts'

export function timeCases(given: () => Bench): void {
  it('aborts a hanging upstream after its time limit', async () => {
    const { open, subject, upstream } = given()
    upstream.behave(hanging)
    await rejectsWith(open({ timeoutMs: 100 }).call(plainCall(subject.call), FOREVER), 'upstream_timeout')
    await until(() => upstream.received[0]?.gone === true, 'the upstream to lose its connection', PROMPT_MS)
  })

  it('aborts an upstream that stops in the middle after its time limit', async () => {
    const { open, subject, upstream } = given()
    upstream.behave((response) => {
      response.writeHead(200, { ...subject.answer.headers, 'content-length': subject.answer.body.length })
      response.write(subject.answer.body.slice(0, 3))
    })
    await rejectsWith(open({ timeoutMs: 100 }).call(plainCall(subject.call), FOREVER), 'upstream_timeout')
    await until(() => upstream.received[0]?.gone === true, 'the upstream to lose its connection', PROMPT_MS)
  })

  it('ends at once when its signal aborts, and the upstream notices', async () => {
    const { adapter, subject, upstream } = given()
    upstream.behave(hanging)
    const controller = new AbortController()
    const call = adapter.call(plainCall(subject.call), controller.signal)
    const ended = rejectsWith(call, 'call_interrupted')
    await until(() => upstream.received.length === 1, 'the request to arrive')
    controller.abort()
    await ended
    await until(() => upstream.received[0]?.gone === true, 'the upstream to lose its connection', PROMPT_MS)
  })

  it('calls nothing if its signal was aborted before', async () => {
    const { adapter, subject, upstream } = given()
    await rejectsWith(adapter.call(plainCall(subject.call), AbortSignal.abort()), 'call_interrupted')
    assert.equal(upstream.received.length, 0)
  })

  it('leaves no listener on the signal after a call', async () => {
    const { adapter, subject } = given()
    const controller = new AbortController()
    const { signal } = controller
    let listeners = 0
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    signal.addEventListener = (...args: Parameters<typeof add>) => {
      listeners++
      add(...args)
    }
    signal.removeEventListener = (...args: Parameters<typeof remove>) => {
      listeners--
      remove(...args)
    }
    await bytesOf((await adapter.call(plainCall(subject.call), signal)).body)
    assert.equal(listeners, 0)
  })
}

export function lifeCases(given: () => Bench): void {
  it('makes many concurrent calls, each with its own response', async () => {
    const { adapter, subject, upstream } = given()
    const calls = Array.from({ length: 100 }, () => adapter.call(plainCall(subject.call), FOREVER))
    for (const reply of await Promise.all(calls)) assert.deepEqual(await jsonOf(reply), subject.reply)
    assert.equal(upstream.received.length, 100)
  })

  it('reuses its connection', async () => {
    const { adapter, subject, upstream } = given()
    for (let i = 0; i < 10; i++) await bytesOf((await adapter.call(plainCall(subject.call), FOREVER)).body)
    // Two, if a call is made in the same turn in which the one before ended.
    assert(upstream.accepted <= 2)
  })

  it('is not blocked by a hanging call', async () => {
    const { adapter, subject, upstream } = given()
    upstream.behave(hanging)
    const controller = new AbortController()
    const ended = rejectsWith(adapter.call(plainCall(subject.call), controller.signal), 'call_interrupted')
    await until(() => upstream.received.length === 1, 'the request to arrive')
    upstream.behave(answering(200, subject.answer.headers, subject.answer.body))
    assert.equal((await adapter.call(plainCall(subject.call), FOREVER)).success, true)
    controller.abort()
    await ended
  })

  it('closes its connections when closed', async () => {
    const { adapter, subject, upstream } = given()
    await bytesOf((await adapter.call(plainCall(subject.call), FOREVER)).body)
    assert.equal(upstream.open, 1)
    await adapter.close?.()
    await until(() => upstream.open === 0, 'the connection to close', PROMPT_MS)
  })

  it('makes no call after it is closed', async () => {
    const { adapter, subject, upstream } = given()
    await adapter.close?.()
    await rejectsWith(adapter.call(plainCall(subject.call), FOREVER), 'call_interrupted')
    assert.equal(upstream.received.length, 0)
  })

  it('rejects an endpoint that it cannot call', () => {
    const { subject, open } = given()
    for (const endpoint of [
      '',
      'not a url',
      'ftp://127.0.0.1/',
      'file:///etc/passwd',
      'http://user:secret@127.0.0.1/'
    ]) {
      assert.throws(
        () => open({ endpoint }),
        (error: unknown) => isSoukError(error) && error.code === 'invalid_request' && !error.message.includes('secret'),
        `${subject.factory.protocol} took ${endpoint}`
      )
    }
    for (const timeoutMs of [0, -1, 0.5, Number.NaN, 1e9]) {
      assert.throws(() => open({ timeoutMs }), { code: 'invalid_request' })
    }
  })
}

export function inspectionCases(given: () => Bench): void {
  it('describes the API like the opened adapter', async () => {
    const { inspect, subject, upstream } = given()
    upstream.behave(subject.inspectable)
    const { description, snapshot } = await inspect()
    const reopened = given().open()
    assert.deepEqual(JSON.parse(JSON.stringify(await reopened.description)), JSON.parse(JSON.stringify(description)))
    assert.equal(typeof snapshot, 'string')
    assert.equal(reopened.protocol, subject.factory.protocol)
    const names = description.operations.map(({ name }) => name)
    assert(names.length > 0)
    assert.equal(new Set(names).size, names.length)
  })

  it('leaves no connection open', async () => {
    const { inspect, subject, upstream } = given()
    upstream.behave(subject.inspectable)
    await inspect()
    await until(() => upstream.open === 0, 'the connection to close', PROMPT_MS)
  })

  it('reports a refused connection', async () => {
    const { inspect, subject } = given()
    const url = await deadUrl()
    const attempt = inspect({ endpoint: url + subject.endpointPath })
    await rejectsWith(attempt, 'upstream_unreachable')
    await assert.rejects(attempt, new RegExp(`127\\.0\\.0\\.1:${new URL(url).port} refuses connections`))
  })

  it('reports an unknown host name', async () => {
    const { inspect } = given()
    await rejectsWith(inspect({ endpoint: 'http://no-such-host.invalid/' }), 'upstream_unreachable')
  })

  it('reports a server without TLS', async () => {
    const { inspect, subject, upstream } = given()
    const attempt = inspect({ endpoint: upstream.url.replace('http:', 'https:') + subject.endpointPath })
    await rejectsWith(attempt, 'upstream_unreachable')
    await assert.rejects(attempt, /TLS with 127\.0\.0\.1:\d+ failed/)
  })

  it('reports a time-out', async () => {
    const { inspect, upstream } = given()
    upstream.behave(hanging)
    await rejectsWith(inspect({ timeoutMs: 100 }), 'upstream_timeout')
  })

  it('shows the provider the target of a redirect', async () => {
    const { inspect, upstream } = given()
    upstream.behave(answering(301, { location: 'https://api.example/v2' }, ''))
    const attempt = inspect()
    await rejectsWith(attempt, 'invalid_request')
    await assert.rejects(attempt, /https:\/\/api\.example\/v2/)
  })

  it('ends at once when its signal aborts', async () => {
    const { inspect, upstream } = given()
    upstream.behave(hanging)
    const controller = new AbortController()
    const ended = rejectsWith(inspect({}, controller.signal), 'call_interrupted')
    await until(() => upstream.received.length === 1, 'the request to arrive')
    controller.abort()
    await ended
    await until(() => upstream.received[0]?.gone === true, 'the upstream to lose its connection', PROMPT_MS)
  })
}
