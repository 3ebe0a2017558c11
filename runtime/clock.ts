/** The only clock. Tests and the sandbox move it; no decision reads the machine's own. */
export interface Clock {
  now(): Date
  /** Milliseconds since 1970, without creating a Date. */
  ms(): number
  /** Milliseconds that it is ahead of the machine's clock. */
  readonly offset: number
}

export interface MovableClock extends Clock {
  offset: number
  /** The instant at which the clock is frozen; null lets it run. */
  frozenAt: number | null
  /** Advances the clock by so many milliseconds, whether it runs or is frozen. */
  advance(milliseconds: number): void
}

export function machineClock(offset = 0): MovableClock {
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
  }
}
