// Texts as people write them: cut between graphemes, and patterns of pages.

/** Truncates a text, in browsers since 2024 never within what is seen as one character. */
export const truncate = (text, atMost) =>
  text.slice(0, Intl.Segmenter ? new Intl.Segmenter().segment(text).containing(atMost)?.index : atMost)

/** A path as people write it: without the address of the shop, percent-encoding and a query. */
function toPath(text) {
  const path = text.trim().replace(/^https?:\/\/[^/?#*]*|[?#].*/gi, '') || '/'
  try {
    return decodeURI(path).normalize()
  } catch {
    return path
  }
}

/** Whether a path matches a pattern, in which `*` stands for any characters. */
export const matchesPath = (pattern, path) =>
  new RegExp(
    `^${toPath(pattern)
      .split('*')
      .map((each) => each.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*')}$`,
  ).test(toPath(path))

/** The page's path within its shop, which may be in a folder: a language of Shopify, or the script's `data-root`. */
function shopPath() {
  const { pathname } = location
  const root =
    document.querySelector('script[data-root]')?.dataset.root ?? window.Shopify?.routes?.root ?? '/'
  const folder = root.replace(/\/$/, '')
  return pathname.startsWith(`${folder}/`) ? pathname.slice(folder.length) : pathname
}

/** Whether a pattern matches the page's path, with or without the shop's folder. */
export const matchesPage = (pattern) =>
  [location.pathname, shopPath()].some((path) => matchesPath(pattern, path))
