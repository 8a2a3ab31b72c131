import { statfs } from 'node:fs/promises'
import type { Clock, Timer } from '../base/clock.ts'
import { SoukError } from '../base/errors.ts'
import { FREE_SPACE_CHECK_MS, STORAGE_RETRY_MS } from '../base/limits/store.ts'

export interface FreeSpaceInit {
  /** A directory on the watched file system. */
  readonly directory: string
  readonly bytesMin: number
  readonly clock: Pick<Clock, 'after'>
}

/** Watches the free space of a store's disk, so that new work is rejected before a commit fails for lack of space. */
export class FreeSpace {
  readonly #init: FreeSpaceInit
  #refusal: SoukError | undefined
  #timer: Timer | undefined
  #isOver = false

  constructor(init: FreeSpaceInit) {
    this.#init = init
  }

  get refusal(): SoukError | undefined {
    return this.#refusal
  }

  /** Resolves after the first check. */
  async start(): Promise<void> {
    await this.#look()
    if (!this.#isOver) this.#timer = this.#init.clock.after(FREE_SPACE_CHECK_MS, () => void this.start())
  }

  stop(): void {
    this.#isOver = true
    this.#timer?.cancel()
  }

  async #look(): Promise<void> {
    const { directory, bytesMin } = this.#init
    try {
      const { bavail, bsize } = await statfs(directory)
      this.#refusal = bavail * bsize < bytesMin ? storageFull() : undefined
    } catch {
      // If the file system does not report its space, the failing commit does.
    }
  }
}

function storageFull(): SoukError {
  const detail = 'The disk of the node is nearly full. The node accepts work again when there is free space.'
  return new SoukError('storage_full', detail, { retryAfterMs: STORAGE_RETRY_MS })
}
