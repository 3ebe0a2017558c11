/** What steps of stories are made of, and who is in them. */
export const [get, post, patch] = ['GET', 'POST', 'PATCH'].map((method) => (path, body, keeps) => ({
  method,
  path,
  body,
  keeps,
}))
export const when = (reads, isDone, learns) => ({ reads, isDone, learns })
export const step = (by, text, calls, done, link) => ({ by, text, calls: [calls].flat(), ...done, link })
export const linkTo = (path, text) => ({ path, text })

export const world = '/sandbox/api'
export const aMinute = post(`${world}/clock`, { advanceSeconds: 60 })
export const lastPart = (address) => new URL(address).pathname.split('/').at(-1)

/** A step that holds by itself, whatever has happened since: a setting, a connection, what is on sale. */
export const lasting = (...parts) => ({ ...step(...parts), lasts: true })
