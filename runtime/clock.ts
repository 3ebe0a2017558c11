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
