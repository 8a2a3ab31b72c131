// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Splitter} from "lib/pay/contracts/Splitter.sol";
import {TestToken} from "./TestToken.sol";

/// @title Drives a splitter through many small steps in one transaction, and checks its promise after each.
contract SplitterDriver {
    Splitter private immutable SPLITTER;
    TestToken private immutable TOKEN;
    address private immutable PROVIDER;
    address private immutable TREASURY;
    uint256 public total;

    error Broken(uint256 step, string rule);

    constructor(Splitter splitter, TestToken token) {
        SPLITTER = splitter;
        TOKEN = token;
        (PROVIDER, TREASURY,) = splitter.payees();
    }

    /// @notice Many times one atom, each distributed at once.
    function atoms(uint256 steps) external {
        for (uint256 i; i < steps; ++i) {
            TOKEN.mint(address(SPLITTER), 1);
            total += 1;
            SPLITTER.distribute(TOKEN);
            if (TOKEN.balanceOf(TREASURY) != total / 20) revert Broken(i, "treasury has exactly 5%, rounded down");
            if (TOKEN.balanceOf(PROVIDER) != total - total / 20) revert Broken(i, "provider has the rest");
        }
    }

    /// @notice Random amounts, paid out in random ways or not at all.
    function walk(uint256 seed, uint256 steps) external {
        for (uint256 i; i < steps; ++i) {
            seed = uint256(keccak256(abi.encode(seed)));
            uint256 amount = seed % 8 == 0 ? (seed >> 64) % 10 ** 12 : (seed >> 64) % 4;
            TOKEN.mint(address(SPLITTER), amount);
            total += amount;
            (uint256 toProvider, uint256 toTreasury) = SPLITTER.owed(TOKEN);
            if (toProvider + toTreasury != TOKEN.balanceOf(address(SPLITTER))) revert Broken(i, "all of it is owed");
            uint256 way = (seed >> 8) % 4;
            if (way == 0) SPLITTER.distribute(TOKEN);
            if (way == 1 && toProvider != 0) SPLITTER.releaseProvider(TOKEN);
            if (way == 2 && toTreasury != 0) SPLITTER.releaseTreasury(TOKEN);
            _check(i, way);
        }
    }

    function _check(uint256 step, uint256 way) private view {
        uint256 treasury = TOKEN.balanceOf(TREASURY);
        uint256 provider = TOKEN.balanceOf(PROVIDER);
        uint256 share = total / 20;
        if (treasury > share || provider > total - share) revert Broken(step, "nobody gets more than due");
        if ((way == 0 || way == 2) && treasury != share) revert Broken(step, "treasury got all that is due");
        if ((way == 0 || way == 1) && provider != total - share) revert Broken(step, "provider got all that is due");
        if (treasury + provider + TOKEN.balanceOf(address(SPLITTER)) != total) revert Broken(step, "nothing is lost");
    }
}
