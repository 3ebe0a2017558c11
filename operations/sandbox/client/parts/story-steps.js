/** Building blocks of story steps. */
export const [get, post, patch] = ['GET', 'POST', 'PATCH'].map((method) => (path, body, extracts) => ({
  method,
  path,
  body,
  extracts,
}))
export const when = (reads, isDone, derives) => ({ reads, isDone, derives })
export const step = (by, text, calls, done, link) => ({ by, text, calls: [calls].flat(), ...done, link })
export const linkTo = (path, text) => ({ path, text })

export const world = '/sandbox/api'
export const aMinute = post(`${world}/clock`, { advanceSeconds: 60 })
export const lastPart = (address) => new URL(address).pathname.split('/').at(-1)

/** A step that does not count as done just because a later step is done, such as a setting or a connection. */
export const persistentStep = (...parts) => ({ ...step(...parts), isPersistent: true })
