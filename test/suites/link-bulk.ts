import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { setImmediate as turn } from 'node:timers/promises'
import { text, utf8 } from '../../lib/base/bytes.ts'
import { bytesOf, textOf } from '../helpers/bodies.ts'
import { eventually, within } from '../helpers/eventually.ts'
import { type Bench, BOUND_MS, count, MiB, NEVER, stopped, TAG } from './link-bench.ts'

/** Deterministic, and different at every position. */
const chunkAt = (i: number, bytes: number): Uint8Array => new Uint8Array(bytes).fill(i * 37 + 1)

export function bulkCases(bench: () => Bench): void {
  it('carry their tag and sender', async () => {
    const { ours } = await bench().connect()
    const sink = await ours.channel.openBulk(TAG, NEVER)
    const { peer, tag } = await bench().b.bulk()
    assert.equal(peer, bench().a.link.self)
    assert.deepEqual(Uint8Array.from(tag), TAG)
    sink.abort(new Error('done'))
  })

  it('work in both directions, whichever side opened the channel', async () => {
    const { theirs } = await bench().connect()
    const sink = await theirs.channel.openBulk(TAG, NEVER)
    const { source } = await bench().a.bulk()
    await sink.write(utf8('backwards'))
    await sink.end()
    assert.equal(await textOf(source), 'backwards')
  })

  it('transfer 20 MiB unchanged, and pause the writer while the reader pauses', async () => {
    const { sink, source } = await bench().openBulk()
    const [sent, received] = [createHash('sha256'), createHash('sha256')]
    let written = 0
    const writing = (async () => {
      for (let i = 0; i < 200; i++) {
        const chunk = chunkAt(i, 100 * 1024 + i)
        sent.update(chunk)
        await sink.write(chunk)
        written += chunk.length
      }
      await sink.end()
    })()
    let before = -1
    await eventually('the writer to be held back', BOUND_MS, () => {
      const isStill = written > 0 && written === before
      before = written
      return isStill ? true : undefined
    })
    assert.ok(written < 10 * MiB, `${written} bytes were taken while nobody read`)
    let bytes = 0
    for await (const chunk of source) {
      received.update(chunk)
      bytes += chunk.length
      if (bytes < 2 * MiB) await turn()
    }
    await within('the end', BOUND_MS, writing)
    assert.equal(bytes, written)
    assert.equal(received.digest('hex'), sent.digest('hex'))
  })

  it('tell the writer when the reader has read them to their end, and not before', async () => {
    const { sink, source } = await bench().openBulk()
    await sink.write(utf8('whole'))
    await sink.end()
    assert.equal(sink.isRead, false)
    assert.equal(await textOf(source), 'whole')
    await eventually('the writer to know', BOUND_MS, () => sink.isRead || undefined)
    const left = await bench().openBulk()
    await left.sink.write(utf8('half'))
    left.source.abort(new Error('enough'))
    await eventually('the writer to be stopped', BOUND_MS, () =>
      left.sink.write(utf8('half')).then(
        () => undefined,
        () => true
      )
    )
    assert.equal(left.sink.isRead, false)
  })

  it('leave the frames that arrive among large chunks unchanged', async () => {
    const { ours, theirs } = await bench().connect()
    const sink = await ours.channel.openBulk(TAG, NEVER)
    const reading = bench()
      .b.bulk()
      .then(({ source }) => bytesOf(source))
    const [body, frames] = [[], []] as [Uint8Array[], string[]]
    for (let i = 0; i < 100; i++) {
      // Frames up to the size of a small encrypted message, and larger ones.
      frames.push(`${i} `.repeat(1 + ((i * 7) % 250)))
      ours.channel.send(utf8(frames.at(-1) ?? ''))
      body.push(chunkAt(i, 1 + ((i * 9_973) % 140_000)))
      await sink.write(body.at(-1) ?? new Uint8Array())
    }
    await sink.end()
    const received = await within('the end', BOUND_MS, reading)
    assert.ok(Buffer.concat(body).equals(received))
    await count(theirs, frames.length)
    assert.deepEqual(
      theirs.frames.map((frame) => text(frame)),
      frames
    )
  })

  it('are complete when data and end arrive together', async () => {
    const { ours } = await bench().connect()
    for (let i = 0; i < 20; i++) {
      const opening = ours.channel.openBulk(TAG, NEVER)
      const sink = await opening
      void sink.write(utf8(`all of ${i}`))
      await sink.end()
      const { source } = await bench().b.bulk()
      assert.equal(await textOf(source), `all of ${i}`)
    }
  })

  it('may be empty', async () => {
    const { sink, source } = await bench().openBulk()
    await sink.end()
    assert.equal(await within('the end', BOUND_MS, textOf(source)), '')
  })

  it('that end unread can still be read completely, even after the sender stopped', async () => {
    const { sink, source } = await bench().openBulk()
    const body = chunkAt(3, 200 * 1024)
    await sink.write(body)
    await sink.end()
    await stopped(bench().a.link.stop(), bench().pair.advance)
    assert.ok((await within('the body', BOUND_MS, bytesOf(source))).equals(body))
  })

  it('that stall do not delay the others', async () => {
    const { sink } = await bench().openBulk()
    const stalled = (async () => {
      for (;;) await sink.write(chunkAt(1, 64 * 1024))
    })()
    const { ours, theirs } = await bench().connect()
    const other = await ours.channel.openBulk(Uint8Array.of(9), NEVER)
    const { source } = await bench().b.bulk()
    const body = chunkAt(5, 300 * 1024)
    await Promise.all([
      within('another body', BOUND_MS, bytesOf(source)).then((bytes) => assert.ok(bytes.equals(body))),
      other.write(body).then(() => other.end())
    ])
    ours.channel.send(utf8('a frame'))
    await count(theirs, 1)
    sink.abort(new Error('enough'))
    await assert.rejects(stalled)
  })
}

export function brokenBulkCases(bench: () => Bench): void {
  it('notify the writer when the reader stops early', async () => {
    const { sink, source } = await bench().openBulk()
    const writing = (async () => {
      for (;;) await sink.write(chunkAt(1, 64 * 1024))
    })()
    for await (const chunk of source) {
      assert.ok(chunk.length > 0)
      break
    }
    await assert.rejects(within('the refusal', BOUND_MS, writing))
    await assert.rejects(sink.end())
  })

  it('tell the writer when the reader never starts, or aborts while it waits', async () => {
    const { ours } = await bench().connect()
    for (const stop of ['unread', 'waiting', 'aborted'] as const) {
      const sink = await ours.channel.openBulk(TAG, NEVER)
      const { source } = await bench().b.bulk()
      const iterator = source[Symbol.asyncIterator]()
      const waiting = stop === 'waiting' ? assert.rejects(iterator.next()) : undefined
      if (stop === 'aborted') source.abort(new Error('not wanted'))
      else await within('return', BOUND_MS, iterator.return?.() ?? Promise.reject(new Error('cannot be returned')))
      await within('the reader', BOUND_MS, Promise.resolve(waiting))
      const writing = (async () => {
        for (;;) await sink.write(chunkAt(1, 64 * 1024))
      })()
      await assert.rejects(within(`the refusal (${stop})`, BOUND_MS, writing))
    }
  })

  it('throw at the reader when the writer aborts, and never end cleanly', async () => {
    const { ours } = await bench().connect()
    for (const bytes of [0, 10, 1 * MiB]) {
      const sink = await ours.channel.openBulk(TAG, NEVER)
      const { source } = await bench().b.bulk()
      const reading = bytesOf(source)
      reading.catch(() => {})
      if (bytes > 0) await sink.write(chunkAt(1, bytes))
      sink.abort(new Error('the upstream broke'))
      await assert.rejects(within('the error', BOUND_MS, reading), `a clean end after ${bytes} bytes`)
    }
  })

  it('throw at the reader when the peer disconnects, and never end cleanly', async () => {
    const { sink, source } = await bench().openBulk()
    await sink.write(utf8('half of'))
    const reading = bytesOf(source)
    reading.catch(() => {})
    await bench().pair.dispose()
    await assert.rejects(within('the error', BOUND_MS, reading))
  })

  it('drop unread data when the reader aborts', async () => {
    const { sink, source } = await bench().openBulk()
    await sink.write(utf8('first'))
    const iterator = source[Symbol.asyncIterator]()
    await iterator.next()
    await sink.write(utf8('second'))
    await sink.end()
    const reason = new Error('deadline')
    source.abort(reason)
    await assert.rejects(iterator.next(), reason)
  })

  it('do not open with an aborted signal', async () => {
    const { ours } = await bench().connect()
    await assert.rejects(ours.channel.openBulk(TAG, AbortSignal.abort(new Error('given up'))))
  })
}
