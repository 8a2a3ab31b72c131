// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

import {Clones} from "@openzeppelin/contracts/proxy/Clones.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {Splitter} from "./Splitter.sol";

/// @title Creates the splitter of each provider of one network.
///
/// @notice A splitter's address depends only on the factory and the provider. So money can be sent there before it exists,
/// and both sides of a channel compute it themselves. The factory has no owner; its treasury can never change.
///
/// @dev Deployed through the deterministic deployer with salt 0, so that its address depends only on the treasury and is the
/// same on every chain.
contract SplitterFactory {
    /// @notice The treasury's share of everything, in basis points.
    uint16 public constant BPS = 500;
    /// @notice The code that all splitters run.
    Splitter public immutable template = new Splitter();
    /// @notice The account that receives the share.
    address public immutable treasury;

    event SplitterCreated(address indexed provider, address splitter);

    error ZeroAddress();

    constructor(address treasury_) {
        if (treasury_ == address(0)) revert ZeroAddress();
        treasury = treasury_;
    }

    /// @notice The address of the provider's splitter, which may not exist yet.
    function splitterOf(address provider) public view returns (address) {
        return Clones.predictDeterministicAddressWithImmutableArgs(address(template), _args(provider), 0);
    }

    /// @notice Creates the provider's splitter if it does not exist. Anybody may call this.
    function create(address provider) public returns (address splitter) {
        bytes memory args = _args(provider);
        splitter = Clones.predictDeterministicAddressWithImmutableArgs(address(template), args, 0);
        if (splitter.code.length != 0) return splitter;
        Clones.cloneDeterministicWithImmutableArgs(address(template), args, 0);
        emit SplitterCreated(provider, splitter);
    }

    /// @notice Creates the provider's splitter if necessary, and makes it pay both sides.
    function distribute(address provider, IERC20 token) external returns (uint256 toProvider, uint256 toTreasury) {
        return Splitter(create(provider)).distribute(token);
    }

    function _args(address provider) private view returns (bytes memory) {
        if (provider == address(0)) revert ZeroAddress();
        return abi.encodePacked(provider, treasury, BPS);
    }
}
