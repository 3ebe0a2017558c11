import { expect } from 'vitest'

/** Matcher for the answer of a refused call. */
export const refused = (status: number, message: string | RegExp): object => ({
  status,
  body: {
    error: {
      message:
        typeof message === 'string' ? expect.stringContaining(message) : expect.stringMatching(message),
    },
  },
})
