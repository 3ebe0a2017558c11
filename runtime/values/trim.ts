/**
 * Trims a text character by character. A pattern with `$` takes quadratic time, since it restarts at each character.
 */

/** Removes characters from the end while `goes` is true. */
export function trimEndWhile(text: string, goes: (sign: string) => boolean): string {
  let end = text.length
  while (end > 0) {
    const sign = characterBefore(text, end)
    if (!goes(sign)) break
    end -= sign.length
  }
  return text.slice(0, end)
}

/** Removes characters from the beginning while `goes` is true. */
export function trimStartWhile(text: string, goes: (sign: string) => boolean): string {
  let from = 0
  while (from < text.length) {
    const sign = String.fromCodePoint(text.codePointAt(from)!)
    if (!goes(sign)) break
    from += sign.length
  }
  return text.slice(from)
}

function characterBefore(text: string, end: number): string {
  const pair = text.slice(Math.max(0, end - 2), end)
  return pair.length === 2 && pair.codePointAt(0)! > 0xffff ? pair : pair.slice(-1)
}
