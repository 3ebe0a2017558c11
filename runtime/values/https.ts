/** Whether a text is an address that anybody can ask for securely, with nothing around it and no blank in it. */
export const isHttpsAddress = (text: string): boolean =>
  /^https:\/\/[^\s/]\S*$/.test(text) && URL.canParse(text)
