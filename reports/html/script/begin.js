// wic-prof's report: what moves in it. The page is whole without this.
"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("scripted");
  const element = (tag, properties = {}, ...children) => {
    const made = Object.assign(document.createElement(tag), properties);
    made.append(...children);
    return made;
  };
  const whenColoursChange = [];

