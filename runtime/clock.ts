/** The only clock that decisions use, instead of the machine's clock. Tests and the sandbox move it. */
export interface Clock {
  now(): Date
  /** The current time in milliseconds since 1970; unlike `now`, it creates no Date. */
  ms(): number
  /** How far this clock is ahead of the machine's clock, in milliseconds. */
  readonly offset: number
}

export interface MovableClock extends Clock {
  offset: number
  /** The instant at which the clock is frozen; null lets it run. */
  frozenAt: number | null
  /** Advances the clock, whether it runs or is frozen. */
  advance(milliseconds: number): void
  /** Advances the clock, then stores its offset for other processes. Offsets are stored one after the other. */
  move(milliseconds: number, store: (offset: number) => Promise<unknown>): Promise<void>
  /** Takes over the stored offset, unless the clock is moved meanwhile: then what was read is older than the move. */
  follow(read: () => Promise<number>): Promise<void>
}

export function machineClock(offset = 0): MovableClock {
  /** Counts the moves. */
  let revision = 0
  let storing: Promise<void> | null = null
  return {
    offset,
    frozenAt: null,
    ms() {
      // biome-ignore lint/nursery/noJsRestrictedProperties: this is the clock
      return this.frozenAt ?? Date.now() + this.offset
    },
    now() {
      return new Date(this.ms())
    },
    advance(milliseconds) {
      this.offset += milliseconds
      if (this.frozenAt !== null) this.frozenAt += milliseconds
    },
    async move(milliseconds, store) {
      this.advance(milliseconds)
      revision += 1
      const before = storing ?? Promise.resolve()
      const stored = before
        .catch(() => undefined)
        .then(async () => {
          await store(this.offset)
        })
      storing = stored
      try {
        await stored
      } finally {
        if (storing === stored) storing = null
      }
    },
    async follow(read) {
      if (this.frozenAt !== null || storing) return
      const before = revision
      const stored = await read()
      if (revision === before) this.offset = stored
    },
  }
}
