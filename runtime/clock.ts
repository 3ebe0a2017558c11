/** The one clock. Tests and the sandbox move it; nothing that decides reads the machine's own. */
export interface Clock {
  now(): Date
  /** Milliseconds since 1970, without making a Date. */
  ms(): number
  /** Milliseconds it was moved ahead of the machine. */
  readonly offset: number
}

export interface MovableClock extends Clock {
  offset: number
  /** Stands still at this instant until set again; null lets it run. */
  frozenAt: number | null
  /** On by so many milliseconds, whether it runs or stands. */
  move(milliseconds: number): void
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
    move(milliseconds) {
      this.offset += milliseconds
      if (this.frozenAt !== null) this.frozenAt += milliseconds
    },
  }
}
